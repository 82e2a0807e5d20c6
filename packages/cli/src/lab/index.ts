export { inNetns, type LabHost, Netlab } from "./netlab.ts";
export { Peer } from "./peer.ts";
export type { Attempt, AttemptResult, Counts, PeerPort } from "./peer-messages.ts";
export { runTool } from "./tool.ts";
