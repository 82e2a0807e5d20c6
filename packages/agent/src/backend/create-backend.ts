import { join } from "node:path";
import { AgentError } from "../errors.ts";
import type { AlwaysAccept } from "../nftables/compile.ts";
import type { EnforcementBackend } from "./backend.ts";
import { FileBackend } from "./file-backend.ts";
import type { NftChecker } from "./nft-check.ts";

/** Names of the backends that a process can be started with. */
export const BACKENDS = ["file"] as const;

/** What a backend is made with. */
export interface BackendParts {
  /** The workload's state directory. */
  readonly stateDir: string;
  readonly alwaysAccept: readonly AlwaysAccept[];
  /** Checks scripts with the host's nft. */
  readonly checker: NftChecker;
}

/** The backend of this name. Throws AgentError `option-invalid` for another one. */
export function createBackend(name: string, parts: BackendParts): EnforcementBackend {
  switch (name) {
    case "file":
      return new FileBackend({
        path: join(parts.stateDir, "ringwall.nft"),
        compile: { alwaysAccept: parts.alwaysAccept },
        checker: parts.checker,
      });
    default:
      throw new AgentError(
        "option-invalid",
        `backend "${name}" is not known; known are ${BACKENDS.join(", ")}`,
      );
  }
}
