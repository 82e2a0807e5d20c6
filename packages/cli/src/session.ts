import type { Command } from "commander";
import { type Globals, globalsOf } from "./globals.ts";
import { type CommandTrace, startTrace, TracedOperator } from "./live/command-trace.ts";
import type { Operator } from "./live/operator.ts";
import { Out, type TextSink } from "./output/out.ts";

/** What the process gives to its commands. */
export interface CommandContext {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal;
  readonly connect: (globals: Globals, out: Out, signal: AbortSignal) => Promise<Operator>;
}

/** One run of one command. */
export interface Session {
  readonly out: Out;
  readonly globals: Globals;
  readonly context: CommandContext;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal;
  /** The connection, made at the first call. */
  readonly operator: () => Promise<Operator>;
}

/** Runs `work` with the command's options and closes the connection afterwards. */
export async function withSession(
  context: CommandContext,
  command: Command,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const globals = globalsOf(command);
  const out = new Out({
    stdout: context.stdout,
    stderr: context.stderr,
    json: globals.json,
    colour: globals.colour,
    environment: context.environment,
  });
  const trace = await startTrace(command, context.environment);
  let connecting: Promise<Operator> | undefined;
  const operator = () => {
    connecting ??= connect(context, globals, out, trace);
    return connecting;
  };
  try {
    await work({ out, globals, context, interrupted: context.interrupted, operator });
  } catch (error) {
    trace?.failed(error);
    throw error;
  } finally {
    const opened = await connecting?.catch(() => undefined);
    await Promise.all([opened?.[Symbol.asyncDispose](), trace?.end()]);
  }
}

async function connect(
  context: CommandContext,
  globals: Globals,
  out: Out,
  trace: CommandTrace | undefined,
): Promise<Operator> {
  const operator = await context.connect(globals, out, context.interrupted);
  return trace === undefined ? operator : new TracedOperator(operator, trace.traceparent);
}
