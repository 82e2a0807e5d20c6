export * from "./gen/ringwall/v1/config_pb.ts";
export * from "./gen/ringwall/v1/content_pb.ts";
export * from "./gen/ringwall/v1/inputs_pb.ts";
export * from "./gen/ringwall/v1/policy_pb.ts";
export * from "./gen/ringwall/v1/registry_pb.ts";
export * from "./gen/ringwall/v1/rendering_pb.ts";
export * from "./gen/ringwall/v1/session_pb.ts";
export * from "./gen/ringwall/v1/status_pb.ts";
export type { BodyDigest, CommitId, ServiceKeyText, WorkloadId } from "./ids.ts";
