// The part of this package that a client needs: without the running of services and its telemetry,
// whose loading takes longer than most commands.
export { type Api, api, type CallOptions } from "./api.ts";
export {
  applyTopology,
  diffTopology,
  type TopologyChange,
  type TopologyOptions,
} from "./apply-topology.ts";
export { type Bus, type BusLog, type BusOptions, connectBus } from "./connect.ts";
export { BusError, type BusErrorCode } from "./errors.ts";
export { DEFAULT_PREFIX, type Names, names, PARTITIONS } from "./names.ts";
export { partitionOf } from "./partition.ts";
export { readStored, type StoredSince, storedSince } from "./stored-since.ts";
export { syncWarning } from "./sync-warning.ts";
export { STREAMS, type StreamName } from "./topology.ts";
export { type WatchOptions, watch } from "./watch.ts";
