import assert from "node:assert/strict";
import { type Head, type Outcome, refusalText, renderAll } from "@ringwall/render";
import { bodyDigest, content } from "@ringwall/rendered";
import { type OracleBody, renderByDefinition } from "../oracle/render.ts";
import type { SourceState } from "./source-state.ts";

/** What both the definitions and the full render give for some inputs. */
export interface Expected {
  readonly bodies: ReadonlyMap<string, OracleBody>;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly skippedRows: number;
}

/** Renders inputs both ways and holds one against the other, byte for byte. */
export function expectedOf({ configuration, workloads }: SourceState): Expected {
  const { bodies, skippedRows } = renderByDefinition(configuration, workloads.values());
  const outcomes = renderAll(configuration, workloads.values());
  assert.deepEqual([...outcomes.keys()].sort(), [...bodies.keys()].sort());
  for (const [id, outcome] of outcomes) {
    const body = bodies.get(id);
    assert("policy" in outcome, `full render refuses ${id}`);
    const { digest, objects } = content(outcome.policy);
    assert.equal(digest, body?.digest, `full render and definitions differ in ${id}`);
    assertSameObjects(objects, body?.objects ?? new Map());
  }
  return { bodies, outcomes, skippedRows };
}

/** What the full render gives for inputs that are too many for the definitions: digest or refusal. */
export function renderedDigests({ configuration, workloads }: SourceState): Map<string, string> {
  const digests = new Map<string, string>();
  for (const [id, outcome] of renderAll(configuration, workloads.values())) {
    digests.set(
      id,
      "policy" in outcome ? bodyDigest(outcome.policy) : refusalText(outcome.refused),
    );
  }
  return digests;
}

/** The head that a body of the definitions has. */
export function headOf({ digest, mode, weaker }: OracleBody): Head {
  return { kind: "body", digest, mode, weaker };
}

/** Fails unless two sets of objects are equal, byte for byte. */
export function assertSameObjects(
  actual: ReadonlyMap<string, Uint8Array>,
  wanted: ReadonlyMap<string, Uint8Array>,
): void {
  assert.deepEqual([...actual.keys()].sort(), [...wanted.keys()].sort(), "objects of a body");
  for (const [digest, bytes] of wanted) {
    assert(Buffer.from(bytes).equals(actual.get(digest) ?? new Uint8Array()), `bytes of ${digest}`);
  }
}
