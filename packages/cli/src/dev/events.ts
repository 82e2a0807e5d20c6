import { setTimeout as delay } from "node:timers/promises";
import { WatchVersionsRequestSchema } from "@ringwall/wire";
import { eventText } from "../commands/watch.ts";
import { CliError } from "../errors.ts";
import type { Operator } from "../live/operator.ts";
import { ruleNames } from "../live/rule-names.ts";
import { type LiveConfiguration, readConfiguration } from "../live/tree.ts";
import type { Out } from "../output/out.ts";

const RETRY_MS = 1_000;

/** Says each step of a version until the signal; a gateway that goes away is asked again. */
export async function followEvents(
  operator: Operator,
  out: Out,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  let live: LiveConfiguration | undefined;
  while (!signal.aborted) {
    try {
      const request = (inbox: string) => ({ inbox });
      const frames = operator.follow("version.watch", WatchVersionsRequestSchema, request, signal);
      for await (const { body } of frames) {
        if (body.case !== "versions") continue;
        const steps = body.value.events.filter((event) => event.ack === "");
        if (steps.length === 0) continue;
        live = await readConfiguration(operator, live);
        const names = ruleNames(live.configuration);
        for (const event of steps) say(eventText(out, event, names).split("\n")[0] ?? "");
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}
