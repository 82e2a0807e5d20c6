import type { BodyDigest } from "@ringwall/wire";

/** The only table that the agent makes, changes and removes. */
export const TABLE = "inet ringwall";

/** Chain of the allow rules. */
export const ALLOW_CHAIN = "allow";

/** Chain of everything that comes in. */
export const INPUT_CHAIN = "input";

/** An empty chain with this beginning carries the digest of the body in force. */
export const BODY_CHAIN = "body_";

/** Sets that the kernel fills with what no rule allows: with ports, and for other protocols. */
export const DENIED_SETS = {
  ports4: "denied4_ports",
  other4: "denied4_other",
  ports6: "denied6_ports",
  other6: "denied6_other",
} as const;

/** Sets of established flows that were cut off, by family. */
export const CUT_SETS = { ip: "cut4", ip6: "cut6" } as const;

/** A set of addresses. */
export interface AddressSet {
  readonly name: string;
  readonly type: "ipv4_addr" | "ipv6_addr";
  /** True if it holds prefixes, false if it holds bare addresses. */
  readonly interval: boolean;
  /** Disjoint. */
  readonly elements: readonly string[];
}

/** A chain with its rules in order. */
export interface Chain {
  readonly name: string;
  /** Hook line of a base chain; empty for one that is jumped to. */
  readonly hook: string;
  readonly rules: readonly string[];
}

/** A compiled policy. */
export interface Ruleset {
  /** Digest of the policy's body. */
  readonly body: BodyDigest;
  readonly addressSets: readonly AddressSet[];
  /** Further sets as they are declared; the kernel or the agent fills them later. */
  readonly flowSets: readonly string[];
  readonly chains: readonly Chain[];
  /** Rule id of each comment in the allow chain. */
  readonly ruleIds: ReadonlyMap<string, string>;
}
