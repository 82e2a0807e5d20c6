import type { FollowEffect } from "@ringwall/actor";
import { type Names, PARTITIONS } from "@ringwall/bus";
import type { EvidenceStream } from "./held/evidence.ts";

const SLOTS = ["a", "b"] as const;

/** What a life reads; the readers' ids begin with its name. */
export function lifeReaders(names: Names, life: string): readonly FollowEffect[] {
  const all = Array.from({ length: PARTITIONS }, (_, each) => each);
  const follow = (
    kind: string,
    stream: "CONFIG" | "REGISTRY" | EvidenceStream,
    filters: readonly string[],
    from: "all" | "last-per-subject",
  ): FollowEffect => ({ kind: "follow", reader: `${life}.${kind}`, stream, filters, from });
  return [
    follow("config", "CONFIG", [names.configCommit], "all"),
    follow("registry", "REGISTRY", [names.registryAll], "last-per-subject"),
    follow("rendered", "RENDERED", all.map(names.rendered), "last-per-subject"),
    follow("versions", "VERSIONS", all.map(names.version), "last-per-subject"),
    follow(
      "checkpoints",
      "CHECKPOINTS",
      all.flatMap((each) => SLOTS.map((slot) => names.checkpoint("version", each, slot, 0))),
      "last-per-subject",
    ),
  ];
}
