import { create, toBinary } from "@bufbuild/protobuf";
import { ConfigRecordSchema, InputsSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { commit, commitId, inputsAt } from "../testing/records.ts";
import { Commits } from "./commits.ts";

function take(commits: Commits, sequence: number, payload: Uint8Array): void {
  commits.take({ subject: "rw.config.commit", sequence, payload, headers: {}, timeUnixMs: 0 });
}

describe("the commits of CONFIG", () => {
  it("do not count one that does not follow the head", () => {
    const commits = new Commits();
    take(commits, 1, commit("rw", 1).payload);
    take(commits, 2, commit("rw", 3).payload);
    take(commits, 3, commit("rw", 2).payload);
    expect(commits.count).toBe(2);
    expect(commits.lastSequence).toBe(3);
    expect(commits.has({ ...inputsAt(2), configSequence: 3n })).toBe(true);
    expect(commits.has({ ...inputsAt(3), configSequence: 2n })).toBe(false);
  });

  it("are overruled in whichever generation somebody names them", () => {
    const commits = new Commits();
    take(commits, 1, commit("rw", 1).payload);
    const lost = { configSequence: 28n, commitId: commitId(28) };
    const accept = create(ConfigRecordSchema, {
      record: {
        case: "acceptState",
        value: { generation: 9n, overruled: [{ generation: 5n, ...lost }] },
      },
    });
    expect(commits.has(create(InputsSchema, { generation: 7n, ...lost }))).toBe(false);
    take(commits, 2, toBinary(ConfigRecordSchema, accept));
    expect(commits.has(create(InputsSchema, { generation: 7n, ...lost }))).toBe(true);
    expect(commits.generation).toBe(9n);
  });
});
