import { failure, type Outcome, type TrimEffect } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import { failureOf, readLast } from "./read.ts";

/** Deletes old messages of a subject; its last one stays unless `all` is set. */
export async function trim(bus: Bus, effect: TrimEffect): Promise<Outcome> {
  const stream = bus.names.stream(effect.stream);
  const trimmed: Outcome = { ok: true, message: { kind: "trimmed", tag: effect.tag } };
  try {
    if (effect.all === true) {
      await bus.jsm.streams.purge(stream, { filter: effect.subject });
      return trimmed;
    }
    if (effect.below === undefined) {
      return failure("not-found", `trim of ${effect.subject} says neither below nor all`);
    }
    const last = await readLast(bus, effect.stream, effect.subject);
    if (!last.ok) {
      return last;
    }
    // An emptied subject's fence would begin at 0 again, so its last message stays.
    const sequence = last.message?.kind === "read" ? (last.message.record?.sequence ?? 0) : 0;
    const seq = Math.min(effect.below, sequence);
    if (seq > 1) {
      await bus.jsm.streams.purge(stream, { filter: effect.subject, seq });
    }
    return trimmed;
  } catch (error) {
    return failureOf(error);
  }
}
