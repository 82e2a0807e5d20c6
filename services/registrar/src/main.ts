import { runService } from "@ringwall/bus";
import { OWN_OPTIONS, registrarEnv } from "./edge/own-options.ts";
import { createRegistrar } from "./registrar.ts";

await runService({
  service: "registrar",
  description: "Knows workloads and their endpoints",
  own: OWN_OPTIONS,
  create: (env) => createRegistrar(registrarEnv(env)),
});
