/**
 * `write-and-die.ts repo|data FOLDER TEXT STEP` writes a state and is killed at a step; with a step
 * that does not come, it ends with code 0.
 */
import { writeState } from "./write-state.ts";

const [kind = "", folder = "", text = "", step = ""] = process.argv.slice(2);
let steps = 0;
await writeState(kind, folder, text, () => {
  steps += 1;
  if (steps === Number(step)) process.kill(process.pid, "SIGKILL");
});
