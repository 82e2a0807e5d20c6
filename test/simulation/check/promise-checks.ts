import type { Finding, Inputs } from "@ringwall/wire";
import type { Declaration, EstateFile } from "../schedule/estate.ts";
import type { OperatorWatcher, Wish } from "../world/operator.ts";
import type { ConfigOracle, TreeState } from "./config-oracle.ts";
import { hex, short } from "./hex.ts";
import type { RegistryOracle } from "./registry-oracle.ts";
import { Violation } from "./violation.ts";

/** What the promises are held against. */
export interface PromiseParts {
  readonly config: ConfigOracle;
  readonly registry: RegistryOracle;
  readonly nowMs: () => number;
}

/** How long after a stream went back its readers may not know of it. */
const GRACE_MS = 100;

/** Holds the control plane to its answers: what it said was stored has been stored. */
export class PromiseChecks implements OperatorWatcher {
  readonly #parts: PromiseParts;
  /** Where the registry was when this operator asked last. */
  #place = 0;

  constructor(parts: PromiseParts) {
    this.#parts = parts;
  }

  asked(_wish: Wish): void {
    this.#place = this.#parts.registry.place;
  }

  committed(files: readonly EstateFile[], inputs: Inputs | undefined): void {
    const id = inputs === undefined ? "" : hex(inputs.commitId);
    const tree = this.#parts.config.tree(id);
    if (files.some((file) => !holds(tree, file))) {
      throw new Violation("I10", `commit ${short(id)} was accepted and does not hold its files`);
    }
  }

  rejected(findings: readonly Finding[]): void {
    const words = findings.map(({ file, message }) => `${file}: ${message}`).join("; ");
    throw new Violation("I10", `a good commit was refused: ${words}`);
  }

  declared({ workload, labels }: Declaration): void {
    const stored = this.#stored(workload);
    if (!stored.some((record) => record !== undefined && isSame(record.labels, labels))) {
      throw new Violation("I10", `the report of ${workload} was answered and never stored`);
    }
  }

  deregistered(workload: string): void {
    if (!this.#stored(workload).includes(undefined)) {
      throw new Violation("I10", `the removal of ${workload} was answered and never stored`);
    }
  }

  #stored(workload: string) {
    const { registry, nowMs } = this.#parts;
    return registry.since(workload, this.#place, nowMs(), GRACE_MS);
  }
}

function holds(tree: TreeState | undefined, { layer, path, text }: EstateFile): boolean {
  const number = layer === "core" ? 1 : 2;
  return tree?.files.get(`${number} ${path}`)?.text === text;
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
