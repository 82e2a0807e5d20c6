/**
 * `pnpm kubernetes:check` checks deploy/kubernetes without a cluster: every object against the types of
 * the Kubernetes client, what refers to each other, what production needs, and NATS's configuration
 * with a real nats-server. Ends with `N passed, M failed`.
 */
import { fileURLToPath } from "node:url";
import { checkObject } from "./check-object.ts";
import { readKustomization } from "./manifests.ts";
import { checkNatsConf } from "./nats-conf.ts";
import { checkRelations } from "./relations.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/kubernetes", import.meta.url));

let passed = 0;
let failed = 0;

function check(name: string, problems: readonly string[]): void {
  if (problems.length === 0) passed += 1;
  else failed += 1;
  for (const problem of problems) process.stdout.write(`FAIL  ${name}: ${problem}\n`);
}

const kustomization = readKustomization(FOLDER);
check("files", kustomization.problems);
for (const { file, kind, name, object } of kustomization.manifests) {
  check(`${file} ${kind} ${name}`, checkObject(object));
}
check("relations", checkRelations(kustomization));
check("nats", checkNatsConf(FOLDER));
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
