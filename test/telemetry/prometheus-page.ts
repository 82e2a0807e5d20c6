/** One sample of a Prometheus text page. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One metric family: what its TYPE and HELP lines say, and its samples. */
export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary" | "untyped";
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const TYPES = ["counter", "gauge", "histogram", "summary", "untyped"] as const;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", '"': '"', "\\": "\\" };

/**
 * Parses a page of the Prometheus text format 0.0.4 and checks it: known types, each family in one
 * piece, no sample twice, histograms cumulative with +Inf equal to the count. Throws Error with the
 * line that is wrong.
 */
export function parsePage(text: string): Map<string, Family> {
  const families = new Map<string, { -readonly [Key in keyof Family]: Family[Key] }>();
  const helps = new Map<string, string>();
  const seen = new Set<string>();
  let current = "";
  for (const line of text.split("\n")) {
    if (line === "" || (line.startsWith("#") && !/^# (HELP|TYPE) /.test(line))) continue;
    const [, keyword, subject = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      helps.set(subject, rest);
    } else if (keyword === "TYPE") {
      const type = TYPES.find((each) => each === rest);
      if (type === undefined || families.has(subject)) throw new Error(`bad TYPE line: ${line}`);
      families.set(subject, { name: subject, type, help: helps.get(subject) ?? "", samples: [] });
      current = subject;
    } else {
      const sample = parseSample(line);
      const family = families.get(current);
      const base = sample.name.replace(/_(bucket|sum|count)$/, "");
      if (family === undefined || (sample.name !== current && base !== current)) {
        throw new Error(`sample outside its family: ${line}`);
      }
      const key = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (seen.has(key)) throw new Error(`sample comes twice: ${line}`);
      seen.add(key);
      family.samples = [...family.samples, sample];
    }
  }
  for (const family of families.values()) checkHistogram(family);
  return families;
}

function parseSample(line: string): Sample {
  const [name = ""] = NAME.exec(line) ?? [];
  let at = name.length;
  const labels: Record<string, string> = {};
  if (name === "") throw new Error(`no sample: ${line}`);
  if (line[at] === "{") {
    at += 1;
    while (line[at] !== "}") {
      const [label = ""] = NAME.exec(line.slice(at)) ?? [];
      at += label.length;
      if (label === "" || line.slice(at, at + 2) !== '="') throw new Error(`bad label: ${line}`);
      at += 2;
      let value = "";
      for (; line[at] !== '"'; at += 1) {
        if (at >= line.length) throw new Error(`label without an end: ${line}`);
        if (line[at] === "\\") {
          at += 1;
          value += ESCAPES[line[at] ?? ""] ?? "";
        } else {
          value += line[at];
        }
      }
      labels[label] = value;
      at += 1;
      if (line[at] === ",") at += 1;
    }
    at += 1;
  }
  const [number = "", ...more] = line.slice(at).trim().split(" ");
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
  if (number === "" || Number.isNaN(value) || more.length > 1) throw new Error(`no value: ${line}`);
  return { name, labels, value };
}

function checkHistogram({ name, type, samples }: Family): void {
  if (type !== "histogram") return;
  const key = ({ labels: { le: _le, ...labels } }: Sample) => JSON.stringify(labels);
  for (const count of samples.filter((sample) => sample.name === `${name}_count`)) {
    const buckets = samples.filter(
      (sample) => sample.name === `${name}_bucket` && key(sample) === key(count),
    );
    const values = buckets.map(({ value }) => value);
    const cumulative = values.every((value, index) => value >= (values[index - 1] ?? 0));
    if (!cumulative || buckets.at(-1)?.labels.le !== "+Inf" || values.at(-1) !== count.value) {
      throw new Error(`histogram ${name} does not add up`);
    }
  }
}
