import { runService, serviceOptions } from "@ringwall/bus";
import { OWN_OPTIONS, readsKubernetes, registrarEnv } from "./edge/own-options.ts";
import { createRegistrar, type Registrar } from "./registrar.ts";

const ending = new AbortController();

/** Without its adapter a registrar that should have one only seems to serve: the process ends. */
async function readKubernetes(registrar: Registrar): Promise<void> {
  const { runAdapter } = await import("./edge/run-adapter.ts");
  const options = serviceOptions(process.argv.slice(2), process.env, OWN_OPTIONS);
  try {
    await runAdapter(options, registrar, ending.signal);
  } catch (error) {
    if (!ending.signal.aborted) {
      process.stderr.write(`registrar: Kubernetes: ${String(error)}\n`);
      process.exitCode = 1;
      process.kill(process.pid, "SIGTERM");
    }
  }
}

await runService({
  service: "registrar",
  description: "Knows workloads and their endpoints",
  own: OWN_OPTIONS,
  create: (env) => {
    const registrar = createRegistrar(registrarEnv(env));
    if (readsKubernetes(env.options)) {
      void readKubernetes(registrar);
    }
    return registrar;
  },
});
ending.abort();
