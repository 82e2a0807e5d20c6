/**
 * What telemetry costs the four services while a commit goes out to every agent: not set up at all,
 * set up and switched off, 1 % of the traces, every trace. Rounds of the four take turns in one run,
 * and processor time is compared, which other work on the machine changes least.
 *
 * RINGWALL_BENCH_AGENTS and RINGWALL_BENCH_ROUNDS change the size.
 */
import { loadavg } from "node:os";
import { report, reportMachine } from "./harness.ts";
import { startSpanSink } from "./telemetry/span-sink.ts";
import { type Round, Variant } from "./telemetry/variant.ts";

const AGENTS = Number(process.env.RINGWALL_BENCH_AGENTS ?? 1000);
const ROUNDS = Number(process.env.RINGWALL_BENCH_ROUNDS ?? 25);

/** Runs the benchmark and prints a line for each setting. */
export async function bench(): Promise<void> {
  process.setMaxListeners(0);
  reportMachine("telemetry");
  await using sink = await startSpanSink();
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url };
  const sampler = "parentbased_traceidratio";
  const settings: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ["none", {}, Number.POSITIVE_INFINITY],
    ["off", { ...on, OTEL_SDK_DISABLED: "true" }, 1.01],
    ["1 %", { ...on, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: "0.01" }, 1.03],
    ["full", on, Number.POSITIVE_INFINITY],
  ];
  await using started = new AsyncDisposableStack();
  const variants: Variant[] = [];
  for (const [name, variables] of settings) {
    variants.push(started.use(await Variant.start(name, AGENTS, variables)));
  }
  const rounds = await takeTurns(variants);
  const base = rounds.get("none") ?? [];
  for (const [name, , most] of settings) {
    const own = rounds.get(name) ?? [];
    report({
      ...{ bench: "telemetry", case: name, unit: "ms", agents: AGENTS, rounds: own.length },
      cpu: round(median(own.map(({ cpuMs }) => cpuMs))),
      wall: round(median(own.map(({ wallMs }) => wallMs))),
      ratio: round(median(own.map(({ cpuMs }, index) => cpuMs / (base[index]?.cpuMs ?? cpuMs)))),
      ...(Number.isFinite(most) ? { must: most } : {}),
      ...(name === "full" ? { exportedMiB: round(sink.bytes / 2 ** 20) } : {}),
      load: round(loadavg()[0] ?? 0),
    });
  }
}

/** Every variant once per round, beginning with another one each time; the first rounds warm up. */
async function takeTurns(variants: readonly Variant[]): Promise<Map<string, Round[]>> {
  const rounds = new Map(variants.map(({ name }) => [name, [] as Round[]]));
  const warmUp = Math.max(2, Math.floor(ROUNDS / 5));
  for (let index = -warmUp; index < ROUNDS; index += 1) {
    for (let turn = 0; turn < variants.length; turn += 1) {
      const variant = variants[(Math.abs(index) + turn) % variants.length];
      const cost = await variant?.change();
      if (variant !== undefined && cost !== undefined && index >= 0) {
        rounds.get(variant.name)?.push(cost);
      }
    }
  }
  return rounds;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
