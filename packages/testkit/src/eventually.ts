/** Awaits a condition with a deadline; throws with `what` and the last value seen if it passes. */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  deadlineMs = 10_000,
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
