import { DEFAULT_NATS_URL } from "../globals.ts";

/** A command to try and what it shows. */
export interface TryCommand {
  readonly what: string;
  readonly command: string;
}

/** How the control plane is reached from a second terminal. */
export interface Reach {
  readonly natsUrl: string;
  readonly prefix: string;
}

/** How the command is written in a second terminal to reach this control plane. */
export function reachingCommand({ natsUrl, prefix }: Reach): string {
  const url = natsUrl === DEFAULT_NATS_URL ? "" : ` --nats-url ${natsUrl}`;
  return `npx ringwall${url}${prefix === "rw" ? "" : ` --prefix ${prefix}`}`;
}

/** Three commands for the shop that work as printed, in any order, more than once. */
export function tryCommands(reach: Reach): TryCommand[] {
  const ringwall = reachingCommand(reach);
  return [
    {
      what: "change a label: a batch host becomes a web server, its peers follow",
      command: `${ringwall} label batch-1 role=web --wait`,
    },
    {
      what: "flip a mode: the cart denies what no rule allows",
      command: `${ringwall} mode 'role=cart env=prod' enforced --expect 1 --wait`,
    },
    {
      what: "explain a denial: staging may not reach production's payments",
      command: `${ringwall} explain stg-api-1 payments-1 8444/tcp`,
    },
  ];
}
