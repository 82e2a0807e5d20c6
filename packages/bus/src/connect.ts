import { readFileSync } from "node:fs";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import {
  type Authenticator,
  AuthorizationError,
  type ConnectionOptions,
  credsAuthenticator,
  type NatsConnection,
  type TlsOptions,
} from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { BusError } from "./errors.ts";
import { type Names, names } from "./names.ts";

/** Oldest server whose streams have all that the topology needs. */
const OLDEST_SERVER = [2, 12] as const;
const RETRY_MS = 500;
const CONNECT_TIMEOUT_MS = 5000;
const API_TIMEOUT_MS = 5000;

/** What the connection tells: one line when the bus goes away and one when it is back. */
export interface BusLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Options of a connection. */
export interface BusOptions {
  /** One URL or several separated by commas; user and password may be part of it. */
  readonly url: string;
  /** Client name on the server's monitoring pages. */
  readonly name: string;
  /** Prefix of every name; default "rw". */
  readonly prefix?: string;
  /** Give up with code `unreachable` instead of trying for ever; default false. */
  readonly failFast?: boolean;
  /** NATS credentials file (JWT and key). */
  readonly credsFile?: string;
  /** Certificate files; any of them switches TLS on. */
  readonly tls?: {
    readonly caFile?: string;
    readonly certFile?: string;
    readonly keyFile?: string;
  };
  /** First part of inbox subjects, for accounts whose permissions name it; default "_INBOX". */
  readonly inboxPrefix?: string;
  readonly log?: BusLog;
  /** Ends the attempts to connect. */
  readonly signal?: AbortSignal;
}

/** A connection to the bus. It reconnects for ever until it is closed. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly names: Names;
  readonly inboxPrefix: string;
  /** False while the server can't be reached. */
  readonly connected: boolean;
  /** Calls back after every reconnect; the result takes it back. */
  onReconnect(call: () => void): () => void;
  /** Waits until the server can be reached, at most so long; true if it can. */
  whenConnected(deadlineMs: number): Promise<boolean>;
  /** Sends what is outstanding and ends. */
  close(): Promise<void>;
}

const SILENT: BusLog = { info: () => undefined, warn: () => undefined };

/**
 * Connects, trying for ever with one log line when it begins to fail and one when it succeeds.
 * Throws BusError: `unreachable` with `failFast`, `denied` for refused credentials with `failFast`,
 * `server-too-old`, `invalid-option` for an unreadable credentials or certificate file.
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const log = options.log ?? SILENT;
  const busNames = names(options.prefix);
  const settings = connectionOptions(options);
  const shown = shownUrl(options.url);
  let told = false;
  for (;;) {
    try {
      const nc = await connect(settings);
      checkServer(nc);
      if (told) {
        log.info({ url: shown }, "NATS is reachable");
      }
      const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: API_TIMEOUT_MS });
      return new ConnectedBus(nc, jsm, busNames, options.inboxPrefix ?? "_INBOX", log);
    } catch (error) {
      if (error instanceof BusError) {
        throw error;
      }
      const denied = error instanceof AuthorizationError;
      const reason = error instanceof Error ? error.message : String(error);
      const message = denied
        ? `NATS at ${shown} refuses the credentials: ${reason}`
        : `NATS at ${shown} is not reachable: ${reason}`;
      if (options.failFast === true) {
        throw new BusError(denied ? "denied" : "unreachable", message, error);
      }
      if (options.signal?.aborted === true) {
        throw new BusError("closed", "stopped before NATS was reachable", error);
      }
      if (!told) {
        told = true;
        log.warn({ url: shown }, `${message}; trying until it is`);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * (0.5 + Math.random())));
    }
  }
}

class ConnectedBus implements Bus {
  readonly nc: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly names: Names;
  readonly inboxPrefix: string;
  readonly #log: BusLog;
  readonly #listeners = new Set<() => void>();
  #connected = true;
  #closing = false;

  constructor(
    nc: NatsConnection,
    jsm: JetStreamManager,
    busNames: Names,
    inboxPrefix: string,
    log: BusLog,
  ) {
    this.nc = nc;
    this.jsm = jsm;
    this.names = busNames;
    this.inboxPrefix = inboxPrefix;
    this.#log = log;
    void this.#watch();
  }

  get connected(): boolean {
    return this.#connected && !this.nc.isClosed();
  }

  onReconnect(call: () => void): () => void {
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }

  whenConnected(deadlineMs: number): Promise<boolean> {
    if (this.connected) {
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        takeBack();
        resolve(this.connected);
      };
      const takeBack = this.onReconnect(end);
      const timer = setTimeout(end, deadlineMs);
    });
  }

  async close(): Promise<void> {
    if (this.#closing) {
      return;
    }
    this.#closing = true;
    if (this.connected) {
      // A server that died in between can't be drained; closing is all that is left then.
      await this.nc.drain().catch(() => this.nc.close());
    } else {
      await this.nc.close();
    }
  }

  async #watch(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === "disconnect" && this.#connected) {
        this.#connected = false;
        if (!this.#closing) {
          this.#log.warn({ server: status.server }, "NATS is away; reconnecting until it is back");
        }
      } else if (status.type === "reconnect") {
        this.#connected = true;
        this.#log.info({ server: status.server }, "NATS is back");
        for (const call of this.#listeners) {
          call();
        }
      }
    }
  }
}

function connectionOptions(options: BusOptions): ConnectionOptions {
  const { servers, user, pass } = serversOf(options.url);
  return {
    servers,
    name: options.name,
    ...(user === undefined ? {} : { user, pass: pass ?? "" }),
    ...(options.credsFile === undefined ? {} : { authenticator: credentials(options.credsFile) }),
    ...(isEmpty(options.tls) ? {} : { tls: tlsOptions(options.tls) }),
    ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 400,
    reconnectJitterTLS: 400,
    // A frozen server is noticed after two unanswered pings.
    pingInterval: 5000,
    maxPingOut: 2,
    timeout: CONNECT_TIMEOUT_MS,
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  };
}

function serversOf(text: string): { servers: string[]; user?: string; pass?: string } {
  let user: string | undefined;
  let pass: string | undefined;
  const servers = text.split(",").map((part) => {
    const url = URL.parse(part.includes("://") ? part.trim() : `nats://${part.trim()}`);
    if (url === null || url.hostname === "") {
      throw new BusError(
        "invalid-option",
        `NATS URL "${shownUrl(part)}" can't be read; write it as nats://host:4222`,
      );
    }
    if (url.username !== "") {
      user = decodeURIComponent(url.username);
      pass = decodeURIComponent(url.password);
    }
    return `${url.hostname}:${url.port === "" ? "4222" : url.port}`;
  });
  return {
    servers,
    ...(user === undefined ? {} : { user }),
    ...(pass === undefined ? {} : { pass }),
  };
}

// Passwords are not shown in logs and errors.
function shownUrl(url: string): string {
  return url.replace(/\/\/[^@/,]*@/g, "//");
}

function credentials(file: string): Authenticator {
  try {
    return credsAuthenticator(readFileSync(file));
  } catch (error) {
    throw new BusError("invalid-option", `credentials file ${file} can't be read`, error);
  }
}

// An empty object would switch TLS on.
function isEmpty(files: BusOptions["tls"]): files is undefined | Record<string, never> {
  return files === undefined || Object.keys(files).length === 0;
}

function tlsOptions(files: NonNullable<BusOptions["tls"]>): TlsOptions {
  for (const file of [files.caFile, files.certFile, files.keyFile]) {
    if (file !== undefined) {
      try {
        readFileSync(file);
      } catch (error) {
        throw new BusError("invalid-option", `certificate file ${file} can't be read`, error);
      }
    }
  }
  return files;
}

function checkServer(nc: NatsConnection): void {
  const version = nc.info?.version ?? "0.0.0";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    void nc.close();
    throw new BusError(
      "server-too-old",
      `nats-server is ${version}; ${oldestMajor}.${oldestMinor} or newer is needed`,
    );
  }
}
