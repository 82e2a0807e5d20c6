/** One case of the render benchmark: `build NAME` or `change WORKLOADS`. */
import { measureBuild } from "./measure-build.ts";
import { measureChanges } from "./measure-changes.ts";

const [kind, name = ""] = process.argv.slice(2);
if (kind === "build") {
  measureBuild(name);
} else if (kind === "change") {
  measureChanges(Number(name));
} else {
  throw new Error(`no such case: ${kind}`);
}
