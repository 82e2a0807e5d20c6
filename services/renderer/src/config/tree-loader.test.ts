import { createHash } from "node:crypto";
import { type Effect, type Message, Outbox, type Task, Tasks } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import { describe, expect, it } from "vitest";
import { type Context, DEFAULT_OPTIONS } from "../context.ts";
import type { LiveFile } from "./config-fold.ts";
import { TreeLoader, type TreeLoading } from "./tree-loader.ts";

const NAMES = names();
const textOf = (name: string) => `kind: Service\nname: ${name}\nentries: [{protocol: tcp}]\n`;

/** A loader of two files whose blobs are answered by hand. */
function loading() {
  const outbox = new Outbox();
  const tasks = new Tasks(outbox, "test");
  const moment = () => ({ wallMs: 0, monotonicMs: 0, random: () => 0.5 });
  const context: Context = {
    names: NAMES,
    instance: "one",
    environment: "prod",
    options: DEFAULT_OPTIONS,
    outbox,
    tasks,
    moment,
    writeId: () => "w",
  };
  const files = new Map<string, LiveFile>();
  for (const name of ["first", "second"]) {
    const path = `policy/service/${name}/service.yaml`;
    const sha256 = createHash("sha256").update(textOf(name)).digest("hex");
    files.set(`core/${path}`, { layer: "core", path, sha256 });
  }
  let result: TreeLoading | undefined;
  const run = function* (): Task<void> {
    result = yield* new TreeLoader(context).load(files);
  };
  tasks.start(run());
  const reads: Extract<Effect, { kind: "read-last" }>[] = [];
  const take = () => {
    for (const effect of outbox.take().flatMap(flatten)) {
      if (effect.kind === "read-last") {
        reads.push(effect);
      } else if (effect.kind === "again") {
        tasks.take({ kind: "again", tag: effect.tag });
        take();
      }
    }
  };
  take();
  const answer = (message: Message) => {
    tasks.take(message);
    take();
  };
  return { reads, answer, result: () => result };
}

const flatten = (effect: Effect): readonly Effect[] =>
  effect.kind === "fork" ? effect.effects.flatMap(flatten) : [effect];

describe("TreeLoader", () => {
  it("does not forget that one blob could not be read because another one could", () => {
    const { reads, answer, result } = loading();
    const [first, second] = reads;
    expect(reads).toHaveLength(2);
    answer({
      kind: "failed",
      tag: first?.tag ?? "",
      effect: "read-last",
      code: "unavailable",
      detail: "not connected",
    });
    const record = {
      subject: second?.subject ?? "",
      sequence: 2,
      payload: new TextEncoder().encode(textOf("second")),
      headers: { "Rw-Count": "1" },
      timeUnixMs: 0,
    };
    answer({ kind: "read", tag: second?.tag ?? "", record });
    expect(result()).toMatchObject({ again: true, problem: expect.stringContaining("first") });
  });
});
