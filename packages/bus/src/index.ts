export { type Api, api, type CallOptions } from "./api.ts";
export {
  applyTopology,
  deleteTopology,
  diffTopology,
  ensureTopology,
  type TopologyChange,
  type TopologyOptions,
} from "./apply-topology.ts";
export { systemClock } from "./clock.ts";
export { type Bus, type BusLog, type BusOptions, connectBus } from "./connect.ts";
export { HEADER, purgeHeaders, traceHeaders } from "./driver/headers.ts";
export { NatsDriver, type NatsDriverParts } from "./driver/nats-driver.ts";
export { BusError, type BusErrorCode } from "./errors.ts";
export { DEFAULT_PREFIX, type Names, names, PARTITIONS } from "./names.ts";
export { type OwnOption, optionsHelp, type ServiceOptions, serviceOptions } from "./options.ts";
export { partitionOf } from "./partition.ts";
export { type NamedPlace, RegistryClaims } from "./registry-claims.ts";
export { runService, type ServiceMain } from "./run-service.ts";
export {
  type RunningService,
  SERVICE_VERSION,
  type ServiceDefinition,
  type ServiceEnv,
  type ServiceReducer,
  startService,
} from "./service.ts";
export { LEASE_MS, RENEW_MS, Slots, type SlotsParts } from "./slots.ts";
export { STREAMS, type StreamName, type StreamSettings, streamSettings } from "./topology.ts";
export { type WatchOptions, watch } from "./watch.ts";
export {
  WATCH_FRAME_BYTES,
  WATCH_LIMIT,
  WATCH_SILENCE_MS,
  type WatchBody,
  type WatchNext,
  WatchServer,
  type WatchServerParts,
} from "./watch-server.ts";
