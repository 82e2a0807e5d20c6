import { create, toBinary } from "@bufbuild/protobuf";
import {
  ChangeListSchema,
  type CommitAccepted,
  CommitRequestSchema,
  CommitResponseSchema,
  type CommitSummary,
  type Finding,
} from "@ringwall/wire";
import { CliError, type FindingLine } from "../errors.ts";
import type { LayerName } from "../input/find-files.ts";
import { mapParallel, putBlob, sha256 } from "./blobs.ts";
import { hex, shortHex } from "./hex.ts";
import { apiFailure, type Operator } from "./operator.ts";
import { type LiveTree, wireLayer } from "./tree.ts";

/** One file to add or replace. */
export interface Put {
  readonly layer: LayerName;
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** One file to remove. */
export interface Removal {
  readonly layer: LayerName;
  readonly path: string;
}

/** A change of the live tree, made against a tree that was read before. */
export interface Change {
  readonly base: LiveTree;
  readonly puts: readonly Put[];
  readonly removals: readonly Removal[];
  readonly author: string;
  readonly message: string;
  /** Environment that the author believes in; empty leaves it to the control plane. */
  readonly environment: string;
  readonly dryRun: boolean;
  /** Bytes of the ledger of what is declared; absent keeps the present one. */
  readonly ledger?: Uint8Array;
}

/** What became of a change. */
export type CommitOutcome =
  | {
      readonly kind: "accepted";
      readonly commit: CommitAccepted;
      readonly warnings: readonly Finding[];
    }
  | { readonly kind: "conflict"; readonly head: CommitSummary | undefined }
  | { readonly kind: "rejected"; readonly findings: readonly Finding[] };

/** Lists above this many bytes travel as a blob: the message limit is 512 KiB. */
const INLINE_LIST_BYTES = 384 * 1024;
const COMMIT_TIMEOUT_MS = 30_000;

/** Puts whose bytes differ from what the tree holds. */
export function effectivePuts(tree: LiveTree, puts: readonly Put[]): Put[] {
  const held = new Map(tree.files.map((file) => [`${file.layer}/${file.path}`, hex(file.sha256)]));
  return puts.filter((put) => held.get(`${put.layer}/${put.path}`) !== hex(sha256(put.bytes)));
}

/** Stores the blobs, then asks for the commit. */
export async function submit(operator: Operator, change: Change): Promise<CommitOutcome> {
  const list = create(ChangeListSchema, {
    puts: change.puts.map((put) => ({
      layer: wireLayer(put.layer),
      path: put.path,
      sha256: sha256(put.bytes),
      size: BigInt(put.bytes.length),
    })),
    deletes: change.removals.map(({ layer, path }) => ({ layer: wireLayer(layer), path })),
  });
  await mapParallel(change.puts, (put) => putBlob(operator, put.bytes));
  if (change.ledger !== undefined) await putBlob(operator, change.ledger);
  const packed = toBinary(ChangeListSchema, list);
  const inline = packed.length <= INLINE_LIST_BYTES;
  if (!inline) await putBlob(operator, packed);
  const { result, warnings } = await operator.call(
    "config.commit",
    CommitRequestSchema,
    CommitResponseSchema,
    {
      expectedParent: change.base.head?.inputs?.commitId ?? new Uint8Array(),
      author: change.author,
      message: change.message,
      environment: change.environment,
      dryRun: change.dryRun,
      ...(change.ledger === undefined ? {} : { ledgerSha256: sha256(change.ledger) }),
      ...(inline ? { puts: list.puts, deletes: list.deletes } : { changesBlob: sha256(packed) }),
    },
    { timeoutMs: COMMIT_TIMEOUT_MS },
  );
  switch (result.case) {
    case "accepted":
      return { kind: "accepted", commit: result.value, warnings };
    case "conflict":
      return { kind: "conflict", head: result.value.head };
    case "rejected":
      return { kind: "rejected", findings: result.value.findings };
    case "error":
      throw apiFailure("config.commit", result.value);
    case undefined:
      throw new CliError("transport", "config.commit: the answer says nothing", {
        hint: "the control plane is newer than this command: update it",
      });
  }
}

/** Says who applied meanwhile, when and what. */
export function conflictError(head: CommitSummary | undefined): CliError {
  const hint = "nothing was written; look at `ringwall history`, then run the command again";
  if (head === undefined) {
    return new CliError("refused", "someone else applied meanwhile", { hint });
  }
  const when = new Date(Number(head.timeUnixMs)).toISOString();
  const id = shortHex(head.inputs?.commitId ?? new Uint8Array());
  return new CliError(
    "refused",
    `someone else applied meanwhile: ${head.author} at ${when}, commit ${id} "${head.message}" ` +
      `(${head.puts} put, ${head.deletes} deleted)`,
    {
      hint,
      data: {
        conflict: {
          author: head.author,
          message: head.message,
          time: when,
          commit: hex(head.inputs?.commitId ?? new Uint8Array()),
          puts: head.puts,
          deletes: head.deletes,
        },
      },
    },
  );
}

/** Findings of the control plane as lines; `locate` names the local file of a live path. */
export function wireFindings(
  findings: readonly Finding[],
  locate: (file: string) => { readonly file: string; readonly lineOffset: number } | undefined,
): FindingLine[] {
  return findings.map((finding) => {
    const local = locate(finding.file);
    return {
      file: local?.file ?? finding.file,
      line: finding.line === 0 ? 0 : finding.line + (local?.lineOffset ?? 0),
      path: finding.path,
      rule: finding.rule,
      message: finding.message,
      warning: finding.warning,
    };
  });
}
