import { join } from "node:path";
import { type Outcome, run } from "./process.ts";

/** One Compose project of the repository's docker-compose.yml. */
export interface ComposeOptions {
  readonly root: string;
  readonly project: string;
  readonly image: string;
  /** Port of NATS on this host. */
  readonly natsPort: number;
  /** First three numbers of the agents' network. */
  readonly fleet: string;
}

const UP_MS = 240_000;

/** Drives Compose; a command that must succeed throws with its words when it does not. */
export class Compose {
  readonly #options: ComposeOptions;

  constructor(options: ComposeOptions) {
    this.#options = options;
  }

  /** Runs a Compose command. */
  try(args: readonly string[], timeoutMs = 60_000): Promise<Outcome> {
    const { root, project, image, natsPort, fleet } = this.#options;
    const file = join(root, "deploy/docker-compose.yml");
    return run("docker", ["compose", "-f", file, "-p", project, "--progress", "plain", ...args], {
      timeoutMs,
      environment: {
        RINGWALL_IMAGE: image,
        RINGWALL_NATS_PORT: String(natsPort),
        RINGWALL_FLEET: fleet,
      },
    });
  }

  /** Runs a Compose command that must succeed and gives its output. */
  async do(args: readonly string[], timeoutMs?: number): Promise<string> {
    const outcome = await this.try(args, timeoutMs);
    if (outcome.code !== 0) {
      const words = outcome.stderr.trim().split("\n").slice(-12).join("\n");
      throw new Error(`docker compose ${args.join(" ")} ended with ${outcome.code}:\n${words}`);
    }
    return outcome.stdout;
  }

  /** Builds the image. */
  async build(): Promise<void> {
    await this.do(["build"], UP_MS);
  }

  /** Starts services, all by default, and waits until they are ready. */
  async up(services: readonly string[] = []): Promise<void> {
    await this.do(["up", "--no-build", "--no-deps", "--wait", ...services], UP_MS);
  }

  /** Starts everything in the order of its dependencies and waits until it is ready. */
  async upAll(): Promise<void> {
    await this.do(["up", "--no-build", "--wait"], UP_MS);
  }

  /** Runs a program in a service's container. */
  exec(service: string, command: readonly string[]): Promise<Outcome> {
    return this.try(["exec", "-T", service, ...command]);
  }

  /** Starts a program in a service's container and leaves it running. */
  async execDetached(service: string, command: readonly string[]): Promise<void> {
    await this.do(["exec", "-d", service, ...command]);
  }

  /** Ids of the running containers of a service. */
  async containers(service: string): Promise<readonly string[]> {
    return (await this.do(["ps", "-q", service])).split("\n").filter((id) => id !== "");
  }

  /** Removes containers, networks and volumes. */
  async down(): Promise<void> {
    await this.do(["down", "-v", "--remove-orphans", "--timeout", "3"], 120_000);
  }

  /** What of the project is still there: containers, networks and volumes. */
  async leftovers(): Promise<readonly string[]> {
    const filter = ["--filter", `label=com.docker.compose.project=${this.#options.project}`];
    const lists = await Promise.all([
      run("docker", ["ps", "-aq", ...filter]),
      run("docker", ["network", "ls", "-q", ...filter]),
      run("docker", ["volume", "ls", "-q", ...filter]),
    ]);
    return lists.flatMap(({ stdout }) => stdout.split("\n").filter((line) => line !== ""));
  }
}
