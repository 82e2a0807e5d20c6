import type { Paint } from "./paint.ts";

/** A delivery state in its colour. */
export function paintState(state: string, paint: Paint): string {
  switch (state) {
    case "SYNCED":
      return paint.green(state);
    case "PENDING":
      return paint.yellow(state);
    case "DEGRADED":
    case "HELD":
      return paint.red(state);
    default:
      return paint.dim(state);
  }
}

/** A mode in its colour. */
export function paintMode(mode: string, paint: Paint): string {
  switch (mode) {
    case "enforced":
      return paint.green(mode);
    case "simulation":
      return paint.cyan(mode);
    default:
      return mode;
  }
}
