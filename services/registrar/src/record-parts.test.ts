import { create, equals } from "@bufbuild/protobuf";
import { EndpointRowSchema, WorkloadRecordSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { RecordParts } from "./record-parts.ts";

function record(id: string, app: string) {
  const row = create(EndpointRowSchema, {
    service: `a/${app}`,
    port: 80,
    ports: [80],
    portClasses: { 80: 1 },
    metadata: { zone: "x" },
  });
  return create(WorkloadRecordSchema, { id, labels: { app }, rows: [row], outbounds: ["a/db"] });
}

describe("RecordParts", () => {
  it("shares equal label sets and rows, and changes no content", () => {
    const parts = new RecordParts();
    const [one, two, other] = [record("1", "web"), record("2", "web"), record("3", "db")];
    const shared = [one, two, other].map((each) => parts.share(structuredClone(each)));
    expect(shared[0]?.labels).toBe(shared[1]?.labels);
    expect(shared[0]?.rows[0]).toBe(shared[1]?.rows[0]);
    expect(shared[0]?.labels).not.toBe(shared[2]?.labels);
    for (const [index, each] of [one, two, other].entries()) {
      expect(shared[index] && equals(WorkloadRecordSchema, shared[index], each)).toBe(true);
    }
  });

  it("goes on when there are more different parts than it keeps", () => {
    const parts = new RecordParts(10);
    for (let each = 0; each < 100; each += 1) {
      const made = parts.share(create(WorkloadRecordSchema, { id: "x", labels: { a: `${each}` } }));
      expect(made.labels.a).toBe(`${each}`);
    }
  });
});
