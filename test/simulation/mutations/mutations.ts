import type { SourcePatch } from "../patch-sources.ts";

/** A way to break the product, as source text that is changed while it is loaded. */
export interface Mutation {
  readonly name: string;
  /** What is broken. */
  readonly words: string;
  readonly patches: readonly SourcePatch[];
}

const KEEPER = "version-keeper/src";
const RENDERER = "renderer/src";
const GATEWAY = "agent-gateway/src";
const AGENT = "packages/agent/src";
const REGISTRAR = "registrar/src";

/** Renderer and keeper take batches of older inputs for newer ones. */
const ANY_INPUTS: readonly SourcePatch[] = [
  {
    file: `${RENDERER}/partition/partition-writer.ts`,
    find: "position.inputs !== undefined && isBelow(inputs, position.inputs)",
    replace: "position.inputs !== undefined && isBelow === undefined",
  },
  {
    file: `${KEEPER}/versions/partition-owner.ts`,
    find: "last !== undefined && isBelow(batch.inputs, last)",
    replace: "last !== undefined && isBelow === undefined",
  },
];

/** Every mutation: the simulation has to find each. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "skip-the-fence",
    words: "the keeper writes VERSIONS and CONFIG without a fence",
    patches: [
      {
        file: `${KEEPER}/log/append.ts`,
        find: "{ expect: { sequence: fence.sequence }, write: fence.write }",
        replace: "{ write: fence.write }",
      },
    ],
  },
  {
    name: "skip-the-renderers-fence",
    words: "the renderer writes RENDERED without a fence",
    patches: [
      {
        file: `${RENDERER}/partition/partition-writer.ts`,
        find: "      expect: { sequence },\n",
        replace: "",
      },
    ],
  },
  {
    name: "answer-before-storing",
    words: "the registrar answers a write before it is stored",
    patches: [
      {
        file: `${REGISTRAR}/partition-writer.ts`,
        find: "  #writeWorkload(written: WrittenWorkload): void {\n",
        replace:
          "  #writeWorkload(written: WrittenWorkload): void {\n    this.#answer(written.jobs, written.results, this.#fence + 1);\n",
      },
    ],
  },
  {
    name: "forget-the-digest-check",
    words: "the agent installs a body that does not have the digest that was named",
    patches: [
      {
        file: `${AGENT}/session/judge.ts`,
        find: "  if (actual !== digest) {",
        replace: "  if (actual === undefined) {",
      },
    ],
  },
  {
    name: "allow-lower-versions",
    words: "gateway and agent take older versions, epochs and inputs for newer ones",
    patches: [
      {
        file: `${AGENT}/session/judge.ts`,
        find: "latest === undefined ? undefined : tooOld(latest, down, digest)",
        replace: 'tooOld === undefined ? "" : undefined',
      },
      {
        file: `${GATEWAY}/session/judge.ts`,
        find: "  if (isBelow(partition.inputs, session.inputs)) {",
        replace: "  if (isBelow === undefined) {",
      },
      {
        file: `${GATEWAY}/session/judge.ts`,
        find: "  if (contradicts(has, head)) {",
        replace: "  if (contradicts === undefined) {",
      },
      {
        file: `${GATEWAY}/session/judge.ts`,
        find: "inputs !== undefined && inputs.configSequence > 0n && !view.hasCommit(inputs)",
        replace: "inputs !== undefined && inputs.configSequence < 0n",
      },
    ],
  },
  {
    name: "resend-what-was-refused",
    words: "the gateway forgets that a snapshot was refused",
    patches: [
      {
        file: `${GATEWAY}/session/acks.ts`,
        find: "    session.parked = withDigest(session.parked, digest, PARKED_KEPT);\n",
        replace: "",
      },
      {
        file: `${GATEWAY}/session/pusher.ts`,
        find: "      session.parked = withDigest(session.parked, head.digest, PARKED_KEPT);\n",
        replace: "",
      },
    ],
  },
  {
    name: "unpark-on-reconnect",
    words: "a Hello makes the gateway forget what the host refused",
    patches: [
      {
        file: `${GATEWAY}/session/desk.ts`,
        find: "rest.length === 0 ? NO_DIGESTS : rest;",
        replace: "rest.length < 0 ? rest : NO_DIGESTS;",
      },
    ],
  },
  {
    name: "park-everything",
    words: "after one refusal the gateway sends no other body either",
    patches: [
      {
        file: `${GATEWAY}/session/judge.ts`,
        find: "session.parked.includes(head.digest)",
        replace: "session.parked.length > 0",
      },
    ],
  },
  {
    name: "apply-anothers-policy",
    words: "the agent does not look whom a push is for",
    patches: [
      {
        file: `${AGENT}/session/session.ts`,
        find: "    if (down.workloadId !== this.#env.workload) {",
        replace: "    if (down.workloadId === undefined) {",
      },
    ],
  },
  {
    name: "acknowledge-early",
    words: "the agent acknowledges a push before it is in force and on disk",
    patches: [
      {
        file: `${AGENT}/session/intake.ts`,
        find: "    this.#applying = { down, record };\n",
        replace:
          '    this.#applying = { down, record };\n    this.#ack(down, AckStatus.APPLIED, "");\n',
      },
    ],
  },
  {
    name: "ignore-inputs-order",
    words: "renderer and keeper take batches of older inputs",
    patches: [...ANY_INPUTS],
  },
  {
    name: "drop-tombstones",
    words: "the keeper does not record removals",
    patches: [
      {
        file: `${KEEPER}/versions/advance.ts`,
        find: "      tombstones.push({ workload, version: head.version });\n",
        replace: "",
      },
    ],
  },
  {
    name: "full-batch-as-delta",
    words: "the keeper keeps what a full batch does not name",
    patches: [
      {
        file: `${KEEPER}/versions/advance.ts`,
        find: "batch.full ? yield* unnamed(log, named) : named.removed",
        replace: "batch.full && unnamed === undefined ? [] : named.removed",
      },
    ],
  },
  {
    name: "go-on-in-a-lost-log",
    words: "the keeper begins no epoch when its log was lost",
    patches: [
      {
        file: `${KEEPER}/versions/open-partition.ts`,
        find: "    return log.suspicion;\n",
        replace: "    return undefined;\n",
      },
      {
        file: `${KEEPER}/versions/partition-owner.ts`,
        find: "!this.#queue.isLost && this.#log.suspicion === undefined",
        replace: "!this.#queue.isLost",
      },
    ],
  },
  {
    name: "commit-without-admission",
    words: "the keeper stores trees that admission refuses",
    patches: [
      {
        file: `${KEEPER}/config/committer.ts`,
        find: '    if (result.kind === "refused") {',
        replace: "    if (result === undefined) {",
      },
    ],
  },
  {
    name: "a-lost-mode-is-visibility",
    words: "an enforced workload without a mode is taken for a visible one",
    patches: [
      {
        file: "packages/render/src/engine/workloads/inventory.ts",
        find: 'const mode = enforced ? "enforced" : "visibility";',
        replace: 'const mode = enforced === undefined ? "enforced" : "visibility";',
      },
      {
        file: "packages/render/src/inventory/effective.ts",
        find: 'mode: workload.enforced ? "enforced" : "visibility"',
        replace: 'mode: workload.enforced === undefined ? "enforced" : "visibility"',
      },
    ],
  },
  {
    name: "no-mark-before-enforcing",
    words: "the renderer emits enforced bodies before the registry shows the mark",
    patches: [
      {
        file: `${RENDERER}/partition/partition-writer.ts`,
        find: "} else if (wanted.length > 0) {",
        replace: "} else if (wanted.length < 0) {",
      },
    ],
  },
  {
    name: "forget-who-was-enforced",
    words: "the registrar forgets that a removed workload was enforced",
    patches: [
      {
        file: `${REGISTRAR}/partition-writer.ts`,
        find: "      this.#ownerKey.remember(id);\n",
        replace: "      this.#ownerKey.forget(id);\n",
      },
    ],
  },
  {
    name: "empty-configuration-is-no-rules",
    words: "keeper and renderer go on when CONFIG lacks what later records name",
    patches: [
      {
        file: `${KEEPER}/held/judge.ts`,
        find: "    const reason = commitProblem(config, named) ?? registryProblem(facts, named);",
        replace:
          "    const reason = commitProblem === undefined ? registryProblem(facts, named) : undefined;",
      },
      {
        file: `${RENDERER}/held/judge.ts`,
        find: "    const problem = configProblem(claim, feed) ?? registryProblem(claim, feed, registry);",
        replace:
          "    const problem = configProblem === undefined ? registryProblem(claim, feed, registry) : undefined;",
      },
      ...ANY_INPUTS,
    ],
  },
  {
    name: "skip-the-registrars-fence",
    words: "the registrar writes REGISTRY without a fence",
    patches: [
      {
        file: `${REGISTRAR}/partition-writer.ts`,
        find: "        sequence: this.#fence,\n        filter: this.#host.names.registryPartition(this.#partition),\n      },\n",
        replace:
          "        sequence: 0,\n        filter: this.#host.names.registryWorkload(this.#partition, tag),\n      },\n",
      },
    ],
  },
  {
    name: "lose-a-blobs-problem",
    words: "the renderer forgets that one blob could not be read when another can",
    patches: [
      {
        file: `${RENDERER}/config/tree-loader.ts`,
        find: "        problem ??= found;\n",
        replace: "        problem = found;\n",
      },
    ],
  },
  {
    name: "end-a-step-with-a-late-answer",
    words: "an answer that nobody waits for ends the rest of the registrar's step",
    patches: [
      {
        file: `${REGISTRAR}/outbox.ts`,
        find: 'effect.kind === "reply"',
        replace: 'effect.kind === "again"',
      },
    ],
  },
];
