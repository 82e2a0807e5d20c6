import { hash } from "node:crypto";
import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type ChangeList,
  ChangeListSchema,
  type ConfigCommit,
  ConfigCommitSchema,
  type FileDelete,
  FileDeleteSchema,
  type FilePut,
  FilePutSchema,
  Layer,
} from "@ringwall/wire";
import { fromHex, toHex } from "../log/hex.ts";
import { type FileEntry, keyOf, type TreeChange } from "./live-tree.ts";

/** Id of a commit: SHA-256 of its record's bytes with the id unset. */
export function commitId(commit: ConfigCommit): Uint8Array<ArrayBuffer> {
  const bare = clone(ConfigCommitSchema, commit);
  bare.id = new Uint8Array(0);
  return new Uint8Array(hash("sha256", toBinary(ConfigCommitSchema, bare), "buffer"));
}

/** A change as a commit or change list stores it. */
export interface StoredChange {
  readonly puts: FilePut[];
  readonly deletes: FileDelete[];
}

/** Writes a change in the form of the contract. */
export function storedChange(change: TreeChange): StoredChange {
  return { puts: change.puts.map(storedFile), deletes: change.deletes.map(storedDelete) };
}

/** A file in the form of the contract. */
export function storedFile(file: FileEntry): FilePut {
  const { layer, path, size } = file;
  return create(FilePutSchema, { layer, path, sha256: fromHex(file.sha256), size: BigInt(size) });
}

/** Reads a change in the form of the contract. */
export function readChange(stored: StoredChange): TreeChange {
  return {
    puts: stored.puts.map(({ layer, path, sha256, size }) => ({
      key: keyOf(layer, path),
      layer,
      path,
      sha256: toHex(sha256),
      size: Number(size),
    })),
    deletes: stored.deletes.map(({ layer, path }) => keyOf(layer, path)),
  };
}

/** Bytes of a change list, to be stored as a blob. */
export function changeListBytes(stored: StoredChange): Uint8Array<ArrayBuffer> {
  return toBinary(ChangeListSchema, create(ChangeListSchema, stored));
}

/** Reads a change list's bytes; throws when they are none. */
export function readChangeList(bytes: Uint8Array): ChangeList {
  return fromBinary(ChangeListSchema, bytes);
}

function storedDelete(key: string): FileDelete {
  const layer = key.startsWith(`${Layer.CORE}/`) ? Layer.CORE : Layer.ENVIRONMENT;
  return create(FileDeleteSchema, { layer, path: key.slice(key.indexOf("/") + 1) });
}
