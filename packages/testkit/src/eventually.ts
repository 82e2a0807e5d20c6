/**
 * Awaits a condition; throws with `what` and the last value seen when it has not come true in time.
 * The deadline only ends a test that hangs: how long something may take is shown in virtual time,
 * where no busy machine has a say.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  deadlineMs = 60_000,
): Promise<T> {
  const until = Date.now() + deadlineMs;
  for (;;) {
    const value = await look();
    if (holds(value)) {
      return value;
    }
    if (Date.now() > until) {
      throw new Error(`${what} did not happen within ${deadlineMs} ms; last: ${String(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
