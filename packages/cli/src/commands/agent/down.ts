import { Command } from "commander";
import { type CommandContext, withSession } from "../../session.ts";
import { addLocalOptions, type LocalOptions, localBackend, onHost } from "./local.ts";

/** `ringwall agent down`. */
export function agentDownCommand(context: CommandContext): Command {
  const command = new Command("down")
    .summary("take the agent's rules out of the kernel; nothing else does")
    .description(
      "Takes the table `inet ringwall` and the names of outbound services away. The stored policy " +
        "stays: an agent that is started again puts it in force. Stop a running agent first, or it " +
        "repairs what was taken away.",
    );
  return addLocalOptions(command).action((options: LocalOptions, invoked: Command) =>
    withSession(context, invoked, async ({ out }) => {
      const backend = localBackend(options);
      const before = await onHost(() => backend.current());
      await onHost(() => backend.remove());
      out.result({ removed: before !== undefined, body: before ?? "" }, () => [
        before === undefined ? "no rules were in force" : `removed the rules of body ${before}`,
      ]);
    }),
  );
}
