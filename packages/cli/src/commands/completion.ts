import { Argument, Command } from "commander";
import type { CommandContext } from "../session.ts";

/** One command and what may follow it. */
interface Completable {
  /** Names down to it, without the program's. */
  readonly path: readonly string[];
  readonly subcommands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly string[];
}

type Shell = "bash" | "zsh" | "fish";

/** `ringwall completion`. */
export function completionCommand(context: CommandContext): Command {
  return new Command("completion")
    .summary("print a completion script for a shell")
    .description(
      "Prints a completion script. bash: source <(ringwall completion bash)\n" +
        "zsh: ringwall completion zsh > ~/.zfunc/_ringwall\n" +
        "fish: ringwall completion fish > ~/.config/fish/completions/ringwall.fish",
    )
    .addArgument(new Argument("<shell>", "which").choices(["bash", "zsh", "fish"]))
    .action((shell: Shell, _options: unknown, command: Command) => {
      let root: Command = command;
      while (root.parent !== null) root = root.parent;
      context.stdout.write(completionScript(shell, root));
    });
}

/** The script for one shell, made from the commands themselves. */
export function completionScript(shell: Shell, root: Command): string {
  const commands = collect(root, []);
  switch (shell) {
    case "bash":
      return bashScript(commands);
    case "zsh":
      return `#compdef ringwall\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
    case "fish":
      return fishScript(commands);
  }
}

function collect(command: Command, path: readonly string[]): Completable[] {
  const visible = command.createHelp().visibleCommands(command);
  const options = command
    .createHelp()
    .visibleOptions(command)
    .flatMap((option) => (option.long ? [option.long] : []));
  const here = {
    path,
    options,
    subcommands: visible
      .filter((each) => each.name() !== "help")
      .map((each) => ({ name: each.name(), summary: each.summary() || each.description() })),
  };
  const below = visible
    .filter((each) => each.name() !== "help")
    .flatMap((each) => collect(each, [...path, each.name()]));
  return [here, ...below];
}

function bashScript(commands: readonly Completable[]): string {
  const root = commands[0]?.options ?? [];
  const cases = commands.map(({ path, subcommands, options }) => {
    const own = [...subcommands.map(({ name }) => name), ...new Set([...options, ...root])];
    return `    "${path.join(" ")}") words="${own.join(" ")}" ;;`;
  });
  const paths = commands.slice(1).map(({ path }) => `"${path.join(" ")}"`);
  return `_ringwall() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word candidate words=""
  local known=(${paths.join(" ")})
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    for candidate in "\${known[@]}"; do
      if [ "$candidate" = "\${path:+$path }$word" ]; then path="$candidate"; break; fi
    done
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _ringwall ringwall
`;
}

function fishScript(commands: readonly Completable[]): string {
  const lines = commands.flatMap(({ path, subcommands, options }) => {
    const next = subcommands.map(({ name }) => name).join(" ");
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
    const condition = [
      ...seen,
      ...(next === "" ? [] : [`not __fish_seen_subcommand_from ${next}`]),
    ].join("; and ");
    const guard = condition === "" ? "" : ` -n '${condition}'`;
    return [
      ...subcommands.map(
        ({ name, summary }) =>
          `complete -c ringwall -f${guard} -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      ),
      ...options.map((option) =>
        path.length === 0
          ? `complete -c ringwall -l ${option.slice(2)}`
          : `complete -c ringwall${guard} -l ${option.slice(2)}`,
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}
