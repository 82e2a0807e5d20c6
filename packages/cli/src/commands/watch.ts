import { type VersionEvent, WatchVersionsRequestSchema } from "@ringwall/wire";
import { Command } from "commander";
import type { Operator } from "../live/operator.ts";
import { ruleNames, withRuleNames } from "../live/rule-names.ts";
import { modeName } from "../live/status.ts";
import { readConfiguration } from "../live/tree.ts";
import type { Out } from "../output/out.ts";
import { harmless, visibleLength } from "../output/paint.ts";
import { clockText } from "../output/time.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

interface WatchOptions {
  readonly acks: boolean;
}

/** `ringwall watch`. */
export function watchCommand(context: CommandContext): Command {
  return new Command("watch")
    .summary("live versions and acknowledgements")
    .description(
      "Shows each step of a workload's version with what changed, and what its agent says to it, " +
        "from now on until Ctrl-C.",
    )
    .argument("[ids...]", "only these workloads")
    .option("--no-acks", "only steps of versions")
    .action((ids: string[], options: WatchOptions, command: Command) =>
      withSession(context, command, (session) => watch(session, ids, options)),
    );
}

async function watch(
  session: Session,
  ids: readonly string[],
  options: WatchOptions,
): Promise<void> {
  const { out } = session;
  const operator = await session.operator();
  const names = new RuleNames(out.json, operator);
  const request = (inbox: string) => ({ inbox, ids: [...ids] });
  let follows = false;
  for await (const { body } of operator.follow(
    "version.watch",
    WatchVersionsRequestSchema,
    request,
    session.interrupted,
  )) {
    if (body.case === "endOfSnapshot") {
      out.note(
        follows
          ? "interrupted; what happened meanwhile is in the history"
          : "watching; Ctrl-C ends",
      );
      follows = true;
    }
    if (body.case !== "versions") continue;
    for (const event of body.value.events) {
      if (event.ack !== "" && !options.acks) continue;
      const known = await names.for(event);
      out.event(eventJson(event), () => eventText(out, event, known));
    }
  }
}

/** Names of rules, read again when an unknown one appears. */
class RuleNames {
  readonly #off: boolean;
  readonly #operator: Operator;
  #names: ReadonlyMap<string, string> | undefined;

  constructor(off: boolean, operator: Operator) {
    this.#off = off;
    this.#operator = operator;
  }

  async for(event: VersionEvent): Promise<ReadonlyMap<string, string>> {
    if (this.#off || event.changes.length === 0) return new Map();
    const known = this.#names;
    if (known === undefined || event.changes.some((change) => isUnnamed(change, known))) {
      this.#names = ruleNames((await readConfiguration(this.#operator)).configuration);
    }
    return this.#names ?? new Map();
  }
}

function isUnnamed(change: string, names: ReadonlyMap<string, string>): boolean {
  return /\brule |\bpeers /.test(change) && withRuleNames(change, names) === change;
}

function eventJson(event: VersionEvent) {
  return {
    workload: event.workload,
    epoch: event.epoch,
    time: new Date(Number(event.timeUnixMs)).toISOString(),
    ...(event.ack === ""
      ? {
          event: "version",
          from: event.fromVersion,
          to: event.toVersion,
          mode: modeName(event.mode),
          changes: event.changes,
        }
      : { event: "ack", version: event.toVersion, ack: event.ack }),
  };
}

/** One event of a stream of versions as people read it. */
export function eventText(
  out: Out,
  event: VersionEvent,
  names: ReadonlyMap<string, string>,
): string {
  const { paint } = out;
  const time = paint.dim(clockText(event.timeUnixMs));
  const id = paint.bold(event.workload.padEnd(12));
  if (event.ack !== "") {
    const colour = event.ack === "APPLIED" ? paint.green : paint.red;
    return `${time}  ${id}  ${colour(event.ack)} version ${event.toVersion}`;
  }
  const step = paint.cyan(`${event.fromVersion} → ${event.toVersion}`);
  const changes = event.changes.map((change) => harmless(withRuleNames(change, names)));
  const [first = "removed", ...rest] = changes;
  const head = `${time}  ${id}  ${step}  `;
  return [`${head}${first}`, ...rest].join(`\n${" ".repeat(visibleLength(head))}`);
}
