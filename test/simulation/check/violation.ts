/** The invariants of the design, by number. */
export type InvariantId = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}` | "crash";

/** What each invariant says. */
export const INVARIANTS: Readonly<Record<InvariantId, string>> = {
  I1: "an acknowledged version never goes back within an epoch",
  I2: "an agent's installed policy equals the body that the log names for its version",
  I3: "a snapshot equals an earlier snapshot with the deltas after it",
  I4: "once faults stop, every agent reaches the body of a full render of the final inputs",
  I5: "a host goes from one whole policy to another, never through anything else",
  I6: "bodies do not depend on order, duplication or batching of events",
  I7: "a refused body is sent at most once more, as a snapshot, over all sessions",
  I8: "a gateway's memory is flat over connects and disconnects",
  I9: "an agent never applies another's policy",
  I10: "of two writers exactly one succeeds, and the loser's work is not lost",
  I11: "no loss, wipe or restore of any stream makes an enforced host more open",
  crash: "no reducer throws",
};

/** An invariant does not hold. */
export class Violation extends Error {
  readonly invariant: InvariantId;
  readonly detail: string;

  constructor(invariant: InvariantId, detail: string) {
    super(`${invariant} (${INVARIANTS[invariant]}): ${detail}`);
    this.name = "Violation";
    this.invariant = invariant;
    this.detail = detail;
  }
}
