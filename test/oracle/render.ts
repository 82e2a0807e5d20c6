import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Configuration, ModeName, WorkloadSpec } from "@ringwall/render";
import {
  BodyManifestSchema,
  EndpointSetSchema,
  EnforcementMode,
  PeerSetSchema,
} from "@ringwall/wire";
import { effective } from "./inventory.ts";
import { type OracleRoute, routesOf, skippedRows } from "./routes.ts";
import { type OracleRule, rulesOf } from "./rules.ts";

/** A body as the definitions give it. */
export interface OracleBody {
  /** Digest of its manifest in hex. */
  readonly digest: string;
  /** Bytes of the manifest and of every set that it names, by digest in hex. */
  readonly objects: ReadonlyMap<string, Uint8Array>;
  readonly mode: ModeName;
  readonly weaker: boolean;
}

/** What the definitions give for a whole estate. */
export interface OracleResult {
  readonly bodies: ReadonlyMap<string, OracleBody>;
  readonly skippedRows: number;
}

const MODES = {
  visibility: EnforcementMode.VISIBILITY,
  simulation: EnforcementMode.SIMULATION,
  enforced: EnforcementMode.ENFORCED,
};

/**
 * Renders every workload straight from the definitions, one by one, with no care for speed. Shares no
 * code with the renderers that it checks, but the schemas of the contract.
 */
export function renderByDefinition(
  configuration: Configuration,
  workloads: Iterable<WorkloadSpec>,
): OracleResult {
  const members = Array.from(workloads, (workload) => ({
    workload,
    ...effective(workload, configuration),
  }));
  const bodies = new Map<string, OracleBody>();
  for (const member of members) {
    const { workload, mode, weaker } = member;
    const rules = rulesOf(member, configuration, members);
    const routes = routesOf(member, configuration.routes, members);
    bodies.set(workload.id, { ...encode(mode, rules, routes), mode, weaker });
  }
  return { bodies, skippedRows: skippedRows(members) };
}

function encode(
  mode: ModeName,
  rules: readonly OracleRule[],
  routes: readonly OracleRoute[],
): Pick<OracleBody, "digest" | "objects"> {
  const objects = new Map<string, Uint8Array>();
  const store = (type: number, bytes: Uint8Array): Buffer => {
    const digest = createHash("sha256").update(Uint8Array.of(type)).update(bytes).digest();
    objects.set(digest.toString("hex"), bytes);
    return digest;
  };
  const manifest = create(BodyManifestSchema, {
    mode: MODES[mode],
    rules: rules.map(({ id, protocol, ports, peers }) => ({
      id,
      protocol,
      ports: ports.map((range) => ({ ...range })),
      peers: store(1, toBinary(PeerSetSchema, create(PeerSetSchema, { cidrs: [...peers] }))),
    })),
    routes: routes.map(({ outbound, provenance, v4, v6, splits }) => ({
      outbound,
      route: provenance,
      virtualAddressV4: v4,
      virtualAddressV6: v6,
      splits: splits.map(({ key, weight, endpoints }) => ({
        key,
        weight,
        endpoints: store(
          2,
          toBinary(EndpointSetSchema, create(EndpointSetSchema, { endpoints: [...endpoints] })),
        ),
      })),
    })),
  });
  const digest = store(3, toBinary(BodyManifestSchema, manifest)).toString("hex");
  return { digest, objects };
}
