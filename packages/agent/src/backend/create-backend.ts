import { join } from "node:path";
import { AgentError } from "../errors.ts";
import type { AlwaysAccept } from "../nftables/compile.ts";
import type { EnforcementBackend } from "./backend.ts";
import { FileBackend } from "./file-backend.ts";
import type { NftChecker } from "./nft-check.ts";
import { NftablesBackend } from "./nftables-backend.ts";

/** Names of the backends that a process can be started with. */
export const BACKENDS = ["nftables", "file"] as const;

/** What a backend is made with. */
export interface BackendParts {
  /** The workload's state directory. */
  readonly stateDir: string;
  readonly alwaysAccept: readonly AlwaysAccept[];
  /** Checks scripts with the host's nft, for the file backend. */
  readonly checker: NftChecker;
  /** The nft binary, for the nftables backend. */
  readonly nft: string;
  /** Packets that no rule allows and that are logged, per second; 0 logs none. */
  readonly logPerSecond: number;
  /** Cuts established flows off that a new policy does not allow; for the nftables backend. */
  readonly cutEstablished: boolean;
}

/** The backend of this name. Throws AgentError `option-invalid` for another one. */
export function createBackend(name: string, parts: BackendParts): EnforcementBackend {
  const { stateDir, alwaysAccept, logPerSecond } = parts;
  switch (name) {
    case "nftables":
      return new NftablesBackend({
        directory: stateDir,
        compile: { alwaysAccept, logPerSecond },
        nft: [parts.nft],
        cutEstablished: parts.cutEstablished,
      });
    case "file":
      return new FileBackend({
        path: join(stateDir, "ringwall.nft"),
        compile: { alwaysAccept, logPerSecond },
        checker: parts.checker,
      });
    default:
      throw new AgentError(
        "option-invalid",
        `backend "${name}" is not known; known are ${BACKENDS.join(", ")}`,
      );
  }
}
