import { BusError, type OwnOption, type ServiceEnv, type ServiceMain } from "@ringwall/bus";
import { DEFAULT_OPTIONS } from "./context.ts";
import { createRenderer } from "./renderer.ts";

const OWN: readonly OwnOption[] = [
  {
    key: "quietMs",
    variable: "RINGWALL_QUIET_MS",
    default: String(DEFAULT_OPTIONS.quietMs),
    help: "quiet time after a change before it is rendered, in ms",
  },
  {
    key: "windowMs",
    variable: "RINGWALL_WINDOW_MS",
    default: String(DEFAULT_OPTIONS.windowMs),
    help: "longest time that a change waits for quiet, in ms",
  },
];

/** The renderer as a service: what its own process and an embedding one run. */
export const rendererService: ServiceMain = {
  service: "renderer",
  description: "Renders the configuration and the registry into bodies",
  own: OWN,
  create: (env) =>
    createRenderer({
      names: env.names,
      instance: env.instance,
      environment: env.environment,
      options: { quietMs: milliseconds(env, "quietMs"), windowMs: milliseconds(env, "windowMs") },
    }),
};

function milliseconds({ options }: ServiceEnv, key: "quietMs" | "windowMs"): number {
  const text = options[key] ?? String(DEFAULT_OPTIONS[key]);
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 60_000)) {
    throw new BusError("invalid-option", `${key} is "${text}"; it must be 0 to 60000`);
  }
  return value;
}
