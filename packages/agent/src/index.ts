export { formatAlwaysAccept, parseAlwaysAccept } from "./always-accept.ts";
export { type ApplyOrder, type ApplyOutcome, applyPolicy } from "./apply.ts";
export type * from "./backend/backend.ts";
export { BACKENDS, type BackendParts, createBackend } from "./backend/create-backend.ts";
export { FileBackend, type FileBackendOptions } from "./backend/file-backend.ts";
export { MemoryBackend } from "./backend/memory-backend.ts";
export { type NftChecker, nftChecker } from "./backend/nft-check.ts";
export {
  NAMES_FILE,
  NftablesBackend,
  type NftablesBackendOptions,
} from "./backend/nftables-backend.ts";
export { type BootState, boot } from "./boot.ts";
export { AgentError, type AgentErrorCode } from "./errors.ts";
export { type EstateWorkload, isWorkloadId, parseEstate } from "./estate.ts";
export { AgentDriver, type AgentLog, type AgentParts } from "./host/agent-driver.ts";
export { AgentHost, type AgentHostOptions, type HostedWorkload } from "./host/agent-host.ts";
export { type AgentTransport, type CoreConnection, natsTransport } from "./host/transport.ts";
export {
  type InventoryParts,
  interfaceAddresses,
  inventoryReport,
  parseAnnotations,
} from "./inventory.ts";
export { type AlwaysAccept, type CompileOptions, compileNftables } from "./nftables/compile.ts";
export { namesFile, outboundName } from "./nftables/names-file.ts";
export { type RoutePart, routeParts } from "./nftables/route-parts.ts";
export type { PolicyRecord } from "./record.ts";
export {
  type AgentActor,
  createAgentActor,
  type InstantHost,
} from "./session/agent-actor.ts";
export type {
  AgentEffect,
  AgentEnv,
  AgentMessage,
  AgentSubjects,
} from "./session/contract.ts";
export type { SessionStatus } from "./session/phase.ts";
export { AgentSession, createAgentSession } from "./session/session.ts";
export { FileStore } from "./store/file-store.ts";
export { MemoryStore } from "./store/memory-store.ts";
export type { PolicyStore, StoredState } from "./store/policy-store.ts";
export { lockStateDirectory } from "./store/state-lock.ts";
