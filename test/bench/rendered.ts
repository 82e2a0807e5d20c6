/**
 * The algebra of rendered policies on four shapes, one peer of one rule replaced.
 * - `decoded`: both policies came separately from the wire; what decoding found equal is shared,
 *   the changed set is another one in each call
 * - `interned`: both were built from interned peer sets, as a renderer and a gateway hold them
 * - `plain` (canonical only): a message in canonical form that was not recognised yet
 * - `shuffled` (canonical only): a message with its peers in random order
 * The baseline does the same in the straightforward way on the same messages.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  apply,
  type Canonical,
  canonical,
  delta,
  diff,
  marshal,
  peerSet,
  unmarshal,
} from "@ringwall/rendered";
import {
  type PolicyDelta,
  PolicyDeltaSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import * as straightforward from "./baseline/rendered.ts";
import { measure, reportMachine } from "./harness.ts";

const SHAPES = [
  { rules: 20, peers: 50 },
  { rules: 50, peers: 1000 },
  { rules: 1, peers: 10_000 },
  { rules: 200, peers: 100 },
] as const;

type Shape = (typeof SHAPES)[number];
type Policy = Canonical<WorkloadPolicy>;

interface Pair {
  readonly from: Policy;
  readonly to: Policy;
  readonly delta: PolicyDelta;
}

/** Runs every operation on every shape. */
export function bench(): void {
  reportMachine("rendered");
  for (const shape of SHAPES) {
    const name = `${shape.rules}x${shape.peers}`;
    const decoded = decodedPair(shape);
    measureDiffDecoded(`diff ${name} decoded`, shape, decoded);
    measureDiffInterned(`diff ${name} interned`, internedPair(shape));
    measureApply(`apply ${name} decoded`, decoded);
    measureApply(`apply ${name} interned`, internedPair(shape));
    measureMarshal(`marshal ${name} decoded`, decoded.from);
    measureMarshal(`marshal ${name} interned`, internedPair(shape).from);
    measureCanonical(`canonical ${name} plain`, plainCopies(decoded.from));
    measureCanonical(`canonical ${name} interned`, internedMessages(shape));
    measureCanonical(`canonical ${name} shuffled`, shuffledCopies(decoded.from));
  }
}

/** The later policy has another peer in each call, so that no remembered difference helps. */
function measureDiffDecoded(name: string, shape: Shape, { from, to }: Pair): void {
  measure({
    bench: "rendered",
    case: name,
    subject: {
      prepare: (index) => withReplacedPeer(to, changedRule(shape), index),
      run: (later) => diff(from, later),
    },
    baseline: { prepare: () => to, run: (later) => straightforward.diff(from, later) },
  });
}

function measureDiffInterned(name: string, { from, to }: Pair): void {
  measure({
    bench: "rendered",
    case: name,
    subject: { prepare: () => to, run: (later) => diff(from, later) },
    baseline: { prepare: () => to, run: (later) => straightforward.diff(from, later) },
  });
}

function measureApply(name: string, pair: Pair): void {
  measure({
    bench: "rendered",
    case: name,
    subject: { prepare: () => pair.delta, run: (change) => apply(pair.from, change) },
    baseline: {
      prepare: () => pair.delta,
      run: (change) => straightforward.apply(pair.from, change),
    },
  });
}

function measureMarshal(name: string, policy: Policy): void {
  measure({
    bench: "rendered",
    case: name,
    subject: { prepare: () => policy, run: marshal },
    baseline: { prepare: () => policy, run: straightforward.marshal },
  });
}

function measureCanonical(name: string, message: () => WorkloadPolicy): void {
  measure({
    bench: "rendered",
    case: name,
    subject: { prepare: message, run: canonical },
    baseline: { prepare: message, run: straightforward.canonical },
  });
}

function decodedPair(shape: Shape): Pair {
  const { from, to } = internedPair(shape);
  const change = toBinary(PolicyDeltaSchema, delta(from, to));
  return {
    from: unmarshal(marshal(from)),
    to: unmarshal(marshal(to)),
    delta: fromBinary(PolicyDeltaSchema, change),
  };
}

function internedPair(shape: Shape): Pair {
  const message = internedMessages(shape);
  const from = canonical(message());
  const later = canonical({ ...message(), version: 2n });
  const to = withReplacedPeer(later, changedRule(shape), 0);
  return { from, to, delta: delta(from, to) };
}

/** Messages of their own rules over the same interned peer sets. */
function internedMessages(shape: Shape): () => WorkloadPolicy {
  const sets = Array.from({ length: shape.rules }, (_, rule) =>
    peerSet(Array.from({ length: shape.peers }, (_, peer) => peerText(rule, peer))),
  );
  return () => ({
    $typeName: "ringwall.v1.WorkloadPolicy",
    version: 1n,
    mode: 3,
    inboundRules: sets.map((peerCidrs, rule) => ({
      $typeName: "ringwall.v1.ResolvedRule",
      ruleId: `0192f3a0-0000-7000-8000-${String(rule).padStart(12, "0")}/tcp`,
      peerCidrs,
      protocol: 1,
      ports: [{ $typeName: "ringwall.v1.PortRange", start: 5432, end: 5432 }],
    })),
    outboundRoutes: [],
  });
}

function plainCopies(policy: Policy): () => WorkloadPolicy {
  const bytes = marshal(policy);
  return () => fromBinary(WorkloadPolicySchema, bytes);
}

function shuffledCopies(policy: Policy): () => WorkloadPolicy {
  return () => ({
    ...policy,
    inboundRules: policy.inboundRules.map((rule) => ({
      ...rule,
      peerCidrs: shuffled(rule.peerCidrs),
    })),
  });
}

function withReplacedPeer(policy: Policy, at: number, index: number): Policy {
  return canonical({
    ...policy,
    inboundRules: policy.inboundRules.map((rule, i) =>
      i === at ? { ...rule, peerCidrs: replaced(rule.peerCidrs, index) } : rule,
    ),
  });
}

function replaced(peers: readonly string[], index: number): string[] {
  const stranger = `172.${16 + ((index >> 16) & 15)}.${(index >> 8) & 255}.${index & 255}/32`;
  return peers.map((peer, i) => (i === peers.length >> 1 ? stranger : peer));
}

const changedRule = (shape: Shape): number => shape.rules >> 1;

const peerText = (rule: number, peer: number): string =>
  `10.${rule % 250}.${(peer >> 8) & 255}.${peer & 255}/32`;

/** The same order in every run: a multiplicative walk over the indexes. */
function shuffled(texts: readonly string[]): string[] {
  const step = 7919;
  return texts.map((_, i) => texts[(i * step) % texts.length] ?? "");
}
