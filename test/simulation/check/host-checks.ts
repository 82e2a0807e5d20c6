import { fromBinary } from "@bufbuild/protobuf";
import type { PolicyRecord } from "@ringwall/agent";
import type { Names } from "@ringwall/bus";
import { type Configuration, renderAll, type WorkloadSpec } from "@ringwall/render";
import { assemble, bodyDigest, marshal, references, withVersion } from "@ringwall/rendered";
import type { SimStream } from "@ringwall/testkit";
import { AckStatus, EnforcementMode, UpSchema } from "@ringwall/wire";
import type { Host } from "../world/host.ts";
import type { ConfigOracle, TreeState } from "./config-oracle.ts";
import { isWeaker } from "./declared-mode.ts";
import { hex, short } from "./hex.ts";
import { inputsText, isBelow } from "./inputs.ts";
import { describeOpenness, type Openness, opennessOf } from "./openness.ts";
import type { RegistryOracle } from "./registry-oracle.ts";
import type { VersionOracle } from "./version-oracle.ts";
import { Violation } from "./violation.ts";

/** What the checks of hosts look at. */
export interface HostCheckParts {
  readonly names: Names;
  readonly content: () => SimStream;
  readonly config: ConfigOracle;
  readonly registry: RegistryOracle;
  readonly versions: VersionOracle;
}

interface Memory {
  /** Highest version that was acknowledged. */
  acked: { readonly epoch: bigint; readonly version: bigint } | undefined;
  /** Policy that was in force last, before the machine restarted too. */
  last: PolicyRecord | undefined;
}

/** Facts about bodies hold for every seed of a process. */
const opennessByDigest = new Map<string, Openness>();
const assembledDigests = new Set<string>();

/** Checks what hosts put in force, and what their agents acknowledge. */
export class HostChecks {
  readonly #parts: HostCheckParts;
  readonly #memories = new Map<Host, Memory>();
  readonly #declared = new Map<string, ReadonlyMap<string, Openness>>();

  constructor(parts: HostCheckParts) {
    this.#parts = parts;
  }

  /** The machine came back from an older image: what it knew later is gone. */
  forget(host: Host): void {
    this.#memories.delete(host);
  }

  /** A policy has come into force. */
  installed(host: Host, how: "apply" | "boot"): void {
    const record = host.kernel;
    if (record === undefined) {
      throw new Violation("I5", `${host.workload} has no policy in force after one was installed`);
    }
    const memory = this.#memoryOf(host);
    this.#checkIdentity(host, record);
    this.#checkBody(host, record);
    if (how === "apply") {
      this.#checkOrder(host, memory, record);
      this.#checkOpenness(host, memory.last, record);
    } else {
      this.#checkBoot(host, memory, record);
    }
    memory.last = record;
  }

  /** An agent has published something. */
  said(host: Host, payload: Uint8Array): void {
    const { body } = fromBinary(UpSchema, payload);
    if (body.case !== "ack" || body.value.status !== AckStatus.APPLIED) {
      return;
    }
    const { epoch, version, digest } = body.value;
    const stored = host.stored;
    const isStored =
      stored?.epoch === epoch && stored.policy.version === version && stored.digest === hex(digest);
    if (!isStored || host.kernel?.digest !== stored.digest) {
      const words = `${host.workload} acknowledges version ${version} of epoch ${epoch}`;
      throw new Violation("I1", `${words}, which is not on its disk and in force`);
    }
    const memory = this.#memoryOf(host);
    const { acked } = memory;
    if (acked !== undefined && isOlder({ epoch, version }, acked)) {
      const words = `${host.workload} acknowledges ${epoch}/${version} after`;
      throw new Violation("I1", `${words} ${acked.epoch}/${acked.version}`);
    }
    memory.acked = { epoch, version };
  }

  #memoryOf(host: Host): Memory {
    let memory = this.#memories.get(host);
    if (memory === undefined) {
      memory = { acked: undefined, last: undefined };
      this.#memories.set(host, memory);
    }
    return memory;
  }

  #checkIdentity(host: Host, record: PolicyRecord): void {
    if (record.workload !== host.workload) {
      throw new Violation("I9", `${host.workload} installed a policy of ${record.workload}`);
    }
    const { epoch, digest } = record;
    if (!this.#parts.versions.named(host.workload, epoch, record.policy.version, digest)) {
      const words = `${host.workload} installed ${epoch}/${record.policy.version} ${short(digest)}`;
      throw new Violation("I2", `${words}, which no log ever named`);
    }
  }

  #checkBody(host: Host, record: PolicyRecord): void {
    if (assembledDigests.has(record.digest)) {
      if (bodyDigest(record.policy) !== record.digest) {
        throw new Violation("I3", `${host.workload} installed another body than ${record.digest}`);
      }
      return;
    }
    const actual = bodyDigest(withVersion(record.policy, record.policy.version));
    if (actual !== record.digest) {
      const words = `${host.workload} installed ${short(actual)} as ${short(record.digest)}`;
      throw new Violation("I3", words);
    }
    const { content, names } = this.#parts;
    const lookup = (digest: string) => content().last(names.content(digest, 0))?.payload;
    const manifest = lookup(record.digest);
    // A part that a loss took away can't be compared; it is put again when somebody asks for it.
    const isWhole = manifest !== undefined && references(manifest).every((part) => lookup(part));
    if (isWhole) {
      const whole = assemble(manifest, lookup, record.policy.version);
      if (Buffer.compare(marshal(whole), marshal(record.policy)) !== 0) {
        const words = `what ${host.workload} installed as ${short(record.digest)}`;
        throw new Violation("I3", `${words} differs from the stored content of that digest`);
      }
      assembledDigests.add(record.digest);
    }
  }

  #checkOrder(host: Host, { acked }: Memory, { epoch, policy: { version } }: PolicyRecord): void {
    if (acked !== undefined && isOlder({ epoch, version }, acked)) {
      const words = `${host.workload} installed ${epoch}/${version}, it had acknowledged`;
      throw new Violation("I1", `${words} ${acked.epoch}/${acked.version}`);
    }
  }

  /** A boot may only put back what is on disk: at most one apply behind what was in force. */
  #checkBoot(host: Host, { acked }: Memory, record: PolicyRecord): void {
    if (record !== host.stored) {
      throw new Violation("I5", `${host.workload} booted into a policy that it has not stored`);
    }
    this.#checkOrder(host, { acked, last: undefined }, record);
  }

  #checkOpenness(host: Host, before: PolicyRecord | undefined, after: PolicyRecord): void {
    if (before === undefined || before.policy.mode !== EnforcementMode.ENFORCED) {
      return;
    }
    this.#checkInputs(host, before, after);
    const opened = openness(after) & ~openness(before);
    if (opened === 0n) {
      return;
    }
    // An operator who accepts a registry that has lost its marks says that they are given up.
    const accepted = (after.inputs?.generation ?? 0n) > (before.inputs?.generation ?? 0n);
    let declared = 0n;
    for (const tree of this.#declaredSince(before, after)) {
      declared |= this.#declaredOpenness(host.workload, tree, !accepted);
      if ((opened & ~declared) === 0n) {
        return;
      }
    }
    const words = `${host.workload} went from ${short(before.digest)} to ${short(after.digest)}`;
    const what = describeOpenness(opened & ~declared);
    throw new Violation("I11", `${words} and lets in what nobody declared since: ${what}`);
  }

  /** Trees that were declared since a policy was rendered; first the one that explains most openings. */
  #declaredSince(before: PolicyRecord, after: PolicyRecord): readonly TreeState[] {
    const { config } = this.#parts;
    const place = before.inputs === undefined ? -1 : config.placeOf(before.inputs);
    const trees = config.declaredFrom(place);
    const own = after.inputs === undefined ? -1 : config.placeOf(after.inputs);
    const likely = trees[own - Math.max(0, place)];
    return likely === undefined ? trees : [likely, ...trees];
  }

  #checkInputs(host: Host, before: PolicyRecord, after: PolicyRecord): void {
    // One that was not on disk yet when it was interrupted may come again as an older batch named it.
    const isSame = before.digest === after.digest;
    if (!isSame && before.inputs !== undefined && isBelow(after.inputs, before.inputs)) {
      const words = `${host.workload} installed inputs ${inputsText(after.inputs)}`;
      throw new Violation("I11", `${words}, it had ${inputsText(before.inputs)}`);
    }
  }

  /** What a tree lets in at a workload at most, whatever the registry was at any time. */
  #declaredOpenness(workload: string, tree: TreeState, marked: boolean): Openness {
    const name = `${tree.id} ${this.#parts.registry.formsEver} ${marked}`;
    let open = this.#declared.get(name);
    if (open === undefined) {
      open = this.#declaredByTree(tree, marked);
      this.#declared.set(name, open);
    }
    return open.get(workload) ?? 0n;
  }

  #declaredByTree(tree: TreeState, marked: boolean): ReadonlyMap<string, Openness> {
    const forms = this.#parts.registry.ever().map((spec, index) => ({
      of: spec.id,
      // Only an explicit weaker mode takes back what was enforced once: read here by the rule itself.
      spec: { ...spec, id: `${spec.id}_${index}`, presence: "live" as const, enforced: marked },
    }));
    const configuration = withUnitsOf(tree.configuration, forms);
    const outcomes = renderAll(
      configuration,
      forms.map(({ spec }) => spec),
    );
    const open = new Map<string, Openness>();
    for (const { of, spec } of forms) {
      const outcome = outcomes.get(spec.id);
      if (outcome !== undefined && "policy" in outcome) {
        const mode = isWeaker(configuration, spec)
          ? EnforcementMode.VISIBILITY
          : marked
            ? EnforcementMode.ENFORCED
            : outcome.policy.mode;
        open.set(of, (open.get(of) ?? 0n) | opennessOf({ ...outcome.policy, mode }));
      }
    }
    return open;
  }
}

interface Form {
  readonly of: string;
  readonly spec: WorkloadSpec;
}

/** The workloads' own units, once for every form in which a workload was known. */
function withUnitsOf(configuration: Configuration, forms: readonly Form[]): Configuration {
  const inventory = configuration.inventory.flatMap((unit) =>
    unit.workload === undefined
      ? [unit]
      : forms
          .filter(({ of }) => of === unit.workload)
          .map(({ spec: { id } }) => ({ ...unit, name: id, workload: id })),
  );
  return { ...configuration, inventory };
}

function openness(record: PolicyRecord): Openness {
  let open = opennessByDigest.get(record.digest);
  if (open === undefined) {
    open = opennessOf(record.policy);
    opennessByDigest.set(record.digest, open);
  }
  return open;
}

function isOlder(
  a: { readonly epoch: bigint; readonly version: bigint },
  b: { readonly epoch: bigint; readonly version: bigint },
): boolean {
  return a.epoch < b.epoch || (a.epoch === b.epoch && a.version < b.version);
}
