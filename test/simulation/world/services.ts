import type { Reducer } from "@ringwall/actor";
import { createGateway } from "@ringwall/agent-gateway";
import type { Names } from "@ringwall/bus";
import { createRegistrar } from "@ringwall/registrar";
import { createRenderer } from "@ringwall/renderer";
import { createKeeper } from "@ringwall/version-keeper";
import { ENVIRONMENT } from "../schedule/estate.ts";

/** Services of a simulated control plane. */
export const SERVICES = ["registrar", "renderer", "keeper", "gateway"] as const;

export type Service = (typeof SERVICES)[number];

/** What takes hours outside, in seconds. */
const HURRIED_KEEPER = {
  checkpointRecords: "12",
  checkpointMs: "20000",
  checkpointLookMs: "1500",
  trimAfterMs: "15000",
  collectMs: "5000",
  collectAfterMs: "20000",
  keepBodiesMs: "30000",
};

/** Makes the reducer of one life of a service's instance. */
export function createService(
  service: Service,
  instance: string,
  names: Names,
  hurried: boolean,
): Reducer {
  const env = { names, instance, environment: ENVIRONMENT };
  switch (service) {
    case "registrar":
      return createRegistrar({
        ...env,
        options: hurried ? { staleAfterMs: 15_000, expireAfterMs: 40_000 } : {},
      });
    case "renderer":
      return createRenderer({ ...env, options: hurried ? { contentAgeMs: 3000 } : {} });
    case "keeper":
      return createKeeper({ ...env, options: hurried ? HURRIED_KEEPER : {} });
    case "gateway":
      return createGateway({ ...env, options: hurried ? { heartbeatMs: "4000" } : {} });
  }
}
