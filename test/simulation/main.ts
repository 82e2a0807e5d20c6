// Simulates a control plane: `pnpm simulate --help`.
import { HELP, readOptions } from "./options.ts";
import { patchSources } from "./patch-sources.ts";
import { partitionsPatch, READ_ONCE } from "./patches.ts";

if (process.argv.includes("--help")) {
  process.stdout.write(HELP);
} else {
  const options = readOptions(process.argv.slice(2));
  if (options.workers > 1 || options.corpus) {
    const { runWorkers } = await import("./workers.ts");
    process.exitCode = await runWorkers(options);
  } else {
    // Sources are changed as they are loaded, so nothing of the product may be imported before.
    patchSources([
      partitionsPatch(options.partitions),
      READ_ONCE,
      ...(options.mutation?.patches ?? []),
    ]);
    const { runSeeds } = await import("./run-seeds.ts");
    process.exitCode = runSeeds(options);
  }
}
