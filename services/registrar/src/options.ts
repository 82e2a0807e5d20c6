import type { Names } from "@ringwall/bus";

/** What an enrolment scope allows to the workloads of one namespace. */
export interface Scope {
  /** Service keys, or `<namespace>/*`; default: every service of the scope's own namespace. */
  readonly services?: readonly string[];
  /** Subnets that their addresses must lie in; default: any. */
  readonly subnets?: readonly string[];
}

/** Settings of a registrar. */
export interface RegistrarOptions {
  /** Scopes by namespace; a namespace without one has the defaults. */
  readonly scopes?: Readonly<Record<string, Scope>>;
  /** Silence after which a workload is stale; default 45,000. */
  readonly staleAfterMs?: number;
  /** Silence after which a workload is no longer a peer; default 600,000. */
  readonly expireAfterMs?: number;
}

/** What a registrar is made from. */
export interface RegistrarEnv {
  readonly names: Names;
  readonly instance: string;
  readonly environment: string;
  readonly options: RegistrarOptions;
  /** Share of the registrations without a trace that begin one; default 1. */
  readonly traceRatio?: number;
}
