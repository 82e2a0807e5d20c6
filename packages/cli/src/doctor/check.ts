/** How a check ended: all is well, something should be looked at, or something does not work. */
export type Verdict = "ok" | "warn" | "fail";

/** The outcome of one check. */
export interface Check {
  /** What was looked at. */
  readonly subject: string;
  readonly verdict: Verdict;
  /** What was found. */
  readonly found: string;
  /** What to do; empty if nothing. */
  readonly todo: string;
}

/** All is well. */
export function ok(subject: string, found: string): Check {
  return { subject, verdict: "ok", found, todo: "" };
}

/** Works, but should be looked at. */
export function warn(subject: string, found: string, todo: string): Check {
  return { subject, verdict: "warn", found, todo };
}

/** Does not work. */
export function fail(subject: string, found: string, todo: string): Check {
  return { subject, verdict: "fail", found, todo };
}
