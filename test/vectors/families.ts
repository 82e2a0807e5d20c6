import type { Family } from "./family.ts";

type Load = () => Promise<Family>;

/** Function families by the name before the dot, each loaded when a vector asks for it. */
export const FAMILIES: ReadonlyMap<string, Load> = new Map<string, Load>([
  ["declared", async () => (await import("./declared.ts")).declared],
  ["endpointmeta", async () => (await import("./endpointmeta.ts")).endpointmeta],
  ["labels", async () => (await import("./labels.ts")).labels],
  ["render", async () => (await import("./render.ts")).render],
  ["rendered", async () => (await import("./rendered.ts")).rendered],
  ["routes", async () => (await import("./routes.ts")).routes],
  ["workload", async () => (await import("./workload.ts")).workload],
]);
