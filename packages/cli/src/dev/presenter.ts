import type { WorkloadView } from "../live/inventory-view.ts";
import type { Session } from "../session.ts";
import { devTable, LiveScreen } from "./screen.ts";
import { type Reach, tryCommands } from "./try-commands.ts";

/** How `ringwall dev` tells what happens. */
export interface Presenter {
  /** A step of the start is done. */
  step(text: string): void;
  /** A process was started. */
  started(name: string, pid: number): void;
  /** Something happened. */
  say(text: string): void;
  /** The present state of every workload. */
  show(views: readonly WorkloadView[], synced: boolean, reach: Reach): void;
  /** Everything is being stopped. */
  stopping(): void;
}

/**
 * Redraws on a terminal, writes plain lines elsewhere, JSON lines with `--json`. `stays` is false if
 * everything is stopped once it is SYNCED: there is nothing to try then.
 */
export function presenterFor(session: Session, stays: boolean): Presenter {
  if (session.out.json) return new JsonPresenter(session);
  return session.out.isTerminal && stays
    ? new ScreenPresenter(session)
    : new LinePresenter(session, stays);
}

class ScreenPresenter implements Presenter {
  readonly #session: Session;
  readonly #screen: LiveScreen;
  #shown = false;
  #wasSynced = false;

  constructor(session: Session) {
    this.#session = session;
    this.#screen = new LiveScreen(session.out, () => process.stdout.rows ?? 24);
  }

  // People find processes in `ringwall status` and in the logs.
  started(): void {}

  step(text: string): void {
    this.#session.out.lines([`${this.#session.out.paint.green("✓")} ${text}`]);
  }

  say(text: string): void {
    if (this.#shown) this.#screen.say(text);
    else this.#session.out.lines([text]);
  }

  show(views: readonly WorkloadView[], synced: boolean, reach: Reach): void {
    const { paint } = this.#session.out;
    if (!this.#shown) this.#session.out.lines([""]);
    this.#shown = true;
    this.#wasSynced ||= synced;
    const count = views.filter((view) => view.state === "SYNCED").length;
    const title = synced
      ? paint.green(`Every workload is SYNCED (${count})`)
      : paint.yellow(`${count} of ${views.length} workloads are SYNCED`);
    const footer = this.#wasSynced
      ? [
          "",
          "Try in a second terminal, in this directory:",
          ...tryCommands(reach).flatMap(({ what, command }) => [
            `  ${paint.dim(`# ${what}`)}`,
            `  ${paint.bold(command)}`,
          ]),
          paint.dim("Ctrl-C stops everything; the state stays for the next start."),
        ]
      : [];
    this.#screen.show({ title, workloads: views, footer });
  }

  stopping(): void {
    this.#screen.close();
    this.#session.out.lines(["", "stopping agents, services and nats-server …"]);
  }
}

class LinePresenter implements Presenter {
  readonly #session: Session;
  readonly #stays: boolean;
  readonly #known = new Map<string, string>();
  #announced = false;

  constructor(session: Session, stays: boolean) {
    this.#session = session;
    this.#stays = stays;
  }

  started(): void {}

  step(text: string): void {
    this.#session.out.lines([text]);
  }

  say(text: string): void {
    // Steps of versions are said by the states that follow, until the first picture is complete.
    if (this.#announced) this.#session.out.lines([text]);
  }

  show(views: readonly WorkloadView[], synced: boolean, reach: Reach): void {
    const { out } = this.#session;
    if (this.#announced) {
      for (const view of views) {
        const line = `${view.id} ${view.mode} version ${view.version} ${view.state}`;
        if (this.#known.get(view.id) !== line) out.lines([line]);
        this.#known.set(view.id, line);
      }
      return;
    }
    if (!synced) return;
    this.#announced = true;
    for (const view of views) {
      this.#known.set(view.id, `${view.id} ${view.mode} version ${view.version} ${view.state}`);
    }
    out.lines(["", ...devTable(out, views), "", `every workload is SYNCED (${views.length})`, ""]);
    if (!this.#stays) return;
    out.lines([
      "try in a second terminal, in this directory:",
      ...tryCommands(reach).flatMap(({ what, command }) => [`  # ${what}`, `  ${command}`]),
      "",
    ]);
  }

  stopping(): void {
    this.#session.out.lines(["stopping agents, services and nats-server"]);
  }
}

class JsonPresenter implements Presenter {
  readonly #session: Session;
  #last = "";

  constructor(session: Session) {
    this.#session = session;
  }

  started(name: string, pid: number): void {
    this.#session.out.event({ event: "process", name, pid }, () => "");
  }

  step(text: string): void {
    this.#session.out.event({ event: "step", text }, () => text);
  }

  say(text: string): void {
    this.#session.out.event({ event: "said", text }, () => text);
  }

  show(views: readonly WorkloadView[], synced: boolean, reach: Reach): void {
    const workloads = views.map(({ id, mode, version, acked, state, detail }) => ({
      id,
      mode,
      version: Number(version),
      acked: Number(acked),
      state,
      detail,
    }));
    const text = JSON.stringify(workloads);
    if (text === this.#last) return;
    this.#last = text;
    this.#session.out.event(
      { event: "state", synced, natsUrl: reach.natsUrl, workloads },
      () => "",
    );
  }

  stopping(): void {
    this.#session.out.event({ event: "stopping" }, () => "stopping");
  }
}
