export { Chance } from "./estate/chance.ts";
export { HistoryWriter } from "./estate/history.ts";
export {
  addressOf,
  type ChangingOptions,
  type CrowdedOptions,
  changingEstate,
  crowdedEstate,
  type Estate,
  makeRow,
  makeWorkload,
  type NamespacedOptions,
  namespacedEstate,
  type SelectingOptions,
  selectingEstate,
  WORKLOADS_PER_APP,
} from "./estate/large-estate.ts";
export { eventually } from "./eventually.ts";
export { natsServerBinary } from "./nats/binary.ts";
export { freePort, type NatsOptions, type NatsServer, startNats } from "./nats/start-nats.ts";
export type { CoreMessage } from "./sim/core.ts";
export { type Faults, NO_FAULTS } from "./sim/faults.ts";
export { derivedSeed, seededRandom } from "./sim/random.ts";
export { SimActor, type SimActorOptions } from "./sim/sim-actor.ts";
export {
  type SimAnswer,
  SimBus,
  type SimBusOptions,
  type StepHook,
  type StoredHook,
} from "./sim/sim-bus.ts";
export { SimStream, type StreamCopy } from "./sim/stream.ts";
export { subjectMatches } from "./sim/subject.ts";
