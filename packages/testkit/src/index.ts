export { eventually } from "./eventually.ts";
export { natsServerBinary } from "./nats/binary.ts";
export { freePort, type NatsOptions, type NatsServer, startNats } from "./nats/start-nats.ts";
