import { availableParallelism } from "node:os";

/** Time that one side of a case is warmed up for. */
const WARM_UP_MS = 100;
/** Time that one side of a case is measured for. */
const MEASURE_MS = 400;
const MIN_SAMPLES = 20;
const MAX_SAMPLES = 5000;
/** Calls are timed in batches of at least this long, so that the clock does not count. */
const MIN_SAMPLE_MS = 0.02;
const MAX_BATCH = 1000;

/** What is measured: `prepare` makes the input of one call and is not timed. */
export interface Subject<Input> {
  /** Called before each call with a running number; give a new input where a memo would help. */
  readonly prepare: (index: number) => Input;
  readonly run: (input: Input) => unknown;
}

/** One case of a benchmark, with a straightforward implementation to compare against. */
export interface BenchCase<Input, BaselineInput> {
  readonly bench: string;
  readonly case: string;
  readonly subject: Subject<Input>;
  readonly baseline: Subject<BaselineInput>;
}

/** Milliseconds of single calls. */
export interface Timing {
  readonly p50: number;
  readonly p99: number;
  readonly samples: number;
}

/** Keeps the last result alive, so that no call is optimised away. */
const sink: { result: unknown } = { result: undefined };

/**
 * Measures both sides of a case in turn and prints one JSON line: times in microseconds, and
 * `ratio`, how many times the baseline's median is the subject's.
 */
export function measure<Input, BaselineInput>(spec: BenchCase<Input, BaselineInput>): void {
  const subject = time(spec.subject);
  const baseline = time(spec.baseline);
  report({
    bench: spec.bench,
    case: spec.case,
    unit: "us",
    p50: round(subject.p50 * 1000),
    p99: round(subject.p99 * 1000),
    samples: subject.samples,
    baseline: round(baseline.p50 * 1000),
    baselineP99: round(baseline.p99 * 1000),
    ratio: round(baseline.p50 / subject.p50),
  });
}

/** Prints one machine-readable line. Benchmarks with a shape of their own use it directly. */
export function report(line: Readonly<Record<string, string | number>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Says on what the numbers of a run were measured. */
export function reportMachine(bench: string): void {
  report({ bench, case: "machine", cores: availableParallelism(), node: process.versions.node });
}

/** Times single calls after a warm-up. */
export function time<Input>(subject: Subject<Input>): Timing {
  const batch = warmUp(subject);
  const samples: number[] = [];
  let index = 0;
  const until = performance.now() + MEASURE_MS;
  while (
    samples.length < MIN_SAMPLES ||
    (samples.length < MAX_SAMPLES && performance.now() < until)
  ) {
    samples.push(timeBatch(subject, batch, index));
    index += batch;
  }
  return { ...percentiles(samples), samples: samples.length };
}

/** Median and 99th percentile of durations. */
export function percentiles(durations: readonly number[]): { p50: number; p99: number } {
  const sorted = [...durations].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Runs the subject until it is compiled, and says how many calls make one sample. */
function warmUp<Input>(subject: Subject<Input>): number {
  const until = performance.now() + WARM_UP_MS;
  let best = Number.POSITIVE_INFINITY;
  let index = 0;
  do {
    best = Math.min(best, timeBatch(subject, 1, index++));
  } while (performance.now() < until);
  return Math.max(1, Math.min(MAX_BATCH, Math.ceil(MIN_SAMPLE_MS / Math.max(best, 1e-6))));
}

function timeBatch<Input>(subject: Subject<Input>, batch: number, index: number): number {
  const inputs = Array.from({ length: batch }, (_, i) => subject.prepare(index + i));
  const start = performance.now();
  for (const input of inputs) sink.result = subject.run(input);
  return (performance.now() - start) / batch;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
