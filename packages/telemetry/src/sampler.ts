/** Samplers of `OTEL_TRACES_SAMPLER` that are known. */
export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/**
 * Share of the traces begun here that are recorded, from `OTEL_TRACES_SAMPLER` (default
 * parentbased_always_on) and `OTEL_TRACES_SAMPLER_ARG` (default 1). Whoever begins a trace decides
 * for all of it, so the samplers with and without `parentbased_` do the same. Throws RangeError on a
 * sampler that is not known and on a ratio that is none from 0 to 1.
 */
export function traceRatio(environment: Readonly<Record<string, string | undefined>>): number {
  const name = environment.OTEL_TRACES_SAMPLER || "parentbased_always_on";
  const sampler = SAMPLERS.find((each) => each === name);
  switch (sampler) {
    case "always_on":
    case "parentbased_always_on":
      return 1;
    case "always_off":
    case "parentbased_always_off":
      return 0;
    case "traceidratio":
    case "parentbased_traceidratio":
      return ratio(environment.OTEL_TRACES_SAMPLER_ARG || "1");
    default:
      throw new RangeError(
        `OTEL_TRACES_SAMPLER is "${name}"; it must be one of ${SAMPLERS.join(", ")}`,
      );
  }
}

function ratio(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) {
    throw new RangeError(`OTEL_TRACES_SAMPLER_ARG is "${text}"; it must be a number from 0 to 1`);
  }
  return value;
}
