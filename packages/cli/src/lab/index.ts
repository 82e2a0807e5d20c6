export { type Example, readExample } from "./example.ts";
export { type Cell, cellsOf, isDeclared, matrixText, observe, type Target } from "./matrix.ts";
export { inNetns, type LabHost, Netlab } from "./netlab.ts";
export { Peer } from "./peer.ts";
export type { Attempt, AttemptResult, Counts, PeerPort } from "./peer-messages.ts";
export { runTool } from "./tool.ts";
