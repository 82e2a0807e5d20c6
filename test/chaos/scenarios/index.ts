import { SERVICES } from "../lab/control-plane.ts";
import type { Scenario } from "../scenario.ts";
import { cluster } from "./cluster.ts";
import { freezeService } from "./freeze-service.ts";
import { fullDisk } from "./full-disk.ts";
import { freezeAgents, killAgents } from "./kill-agents.ts";
import { killBoth, killService } from "./kill-service.ts";
import { largePolicy } from "./large-policy.ts";
import { lostReply } from "./lost-reply.ts";
import { olderStore, wipedStore } from "./lost-store.ts";
import { reconnectStorm } from "./reconnect-storm.ts";
import { freezeServer, killServer } from "./server.ts";
import { sessionCycles } from "./session-cycles.ts";
import { slowAgent } from "./slow-agent.ts";
import { twinAgents } from "./twin-agents.ts";

/** Every scenario, in the order in which they are run. */
export const SCENARIOS: readonly Scenario[] = [
  ...SERVICES.map(killService),
  ...SERVICES.map(freezeService),
  ...SERVICES.map(killBoth),
  killAgents,
  freezeAgents,
  killServer,
  freezeServer,
  slowAgent,
  twinAgents,
  wipedStore,
  olderStore,
  largePolicy,
  lostReply,
  fullDisk,
  reconnectStorm,
  cluster,
  sessionCycles,
];
