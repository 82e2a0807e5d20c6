import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type AcceptState, ConfigCommitSchema, ConfigRecordSchema } from "@ringwall/wire";
import { commitId } from "../config/commit-codec.ts";
import { ConfigLog } from "../config/config-log.ts";
import { fromHex } from "../log/hex.ts";

/** A fold of so many empty commits; the first has the generation and environment prod. */
export function configWith(commits: number, generation = 1_000n): ConfigLog {
  const log = new ConfigLog();
  for (let n = 1; n <= commits; n += 1) {
    const commit = create(ConfigCommitSchema, {
      parent: fromHex(log.head?.id ?? ""),
      author: "a",
      generation: n === 1 ? generation : 0n,
      environment: n === 1 ? "prod" : "",
    });
    commit.id = commitId(commit);
    takeRecord(log, n, { case: "commit", value: commit });
  }
  return log;
}

/** Gives a fold the record at a sequence. */
export function takeRecord(
  log: ConfigLog,
  sequence: number,
  record: NonNullable<MessageInitShape<typeof ConfigRecordSchema>["record"]>,
): void {
  const payload = toBinary(ConfigRecordSchema, create(ConfigRecordSchema, { record }));
  log.take({ subject: "rw.config.commit", sequence, payload, headers: {}, timeUnixMs: 0 });
}

/** Gives a fold an accepted state. */
export function accept(log: ConfigLog, sequence: number, value: Partial<AcceptState>): void {
  takeRecord(log, sequence, {
    case: "acceptState",
    value: {
      $typeName: "ringwall.v1.AcceptState",
      generation: 0n,
      overruled: [],
      author: "op",
      timeUnixMs: 0n,
      ...value,
    },
  });
}
