import { runService } from "@ringwall/bus";
import { createKeeper } from "./keeper.ts";
import { OWN_OPTIONS } from "./options.ts";

await runService({
  service: "version-keeper",
  description: "Keeps the versions of the configuration and of every workload's policy",
  own: OWN_OPTIONS,
  create: createKeeper,
});
