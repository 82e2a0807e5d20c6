import { AcceptStateRequestSchema, AcceptStateResponseSchema } from "@ringwall/wire";
import { Command, Option } from "commander";
import { hex } from "../live/hex.ts";
import { accepted } from "../live/operator.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { authorOption, defaultAuthor, readCount } from "./options.ts";

interface AcceptStateOptions {
  readonly expect: number;
  readonly author?: string;
}

/** `ringwall accept-state`. */
export function acceptStateCommand(context: CommandContext): Command {
  return new Command("accept-state")
    .summary("go on from the present state after a loss or restore")
    .description(
      "Lifts the held state of the control plane by an operator's word: what the streams hold now is " +
        "right, what is missing is given up.\nRestore a stream instead if you can.",
    )
    .addOption(
      new Option("--expect <count>", "number of commits that the configuration holds now")
        .argParser(readCount)
        .makeOptionMandatory(),
    )
    .addOption(authorOption())
    .action((options: AcceptStateOptions, command: Command) =>
      withSession(context, command, (session) => acceptState(session, options)),
    );
}

async function acceptState(session: Session, options: AcceptStateOptions): Promise<void> {
  const operator = await session.operator();
  const { inputs } = accepted(
    "config.accept",
    await operator.call("config.accept", AcceptStateRequestSchema, AcceptStateResponseSchema, {
      expect: BigInt(options.expect),
      author: options.author ?? defaultAuthor(),
    }),
  );
  const document = {
    generation: inputs?.generation ?? 0n,
    configSequence: inputs?.configSequence ?? 0n,
    commit: hex(inputs?.commitId ?? new Uint8Array()),
  };
  session.out.result(document, () => [
    `accepted: generation ${document.generation}, head commit ${document.configSequence}`,
  ]);
}
