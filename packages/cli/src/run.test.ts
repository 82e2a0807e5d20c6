import { describe, expect, it } from "vitest";
import { CliError } from "./errors.ts";
import { run } from "./run.ts";

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ringwall(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const written = { stdout: "", stderr: "" };
  const code = await run(argv, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    environment,
    interrupted: new AbortController().signal,
    connect: () => Promise.reject(new CliError("transport", "not reachable", { hint: "start it" })),
  });
  return { code, ...written };
}

describe("ringwall", () => {
  it("shows help with code 0 and lists every command", async () => {
    const { code, stdout } = await ringwall(["--help"]);
    expect(code).toBe(0);
    for (const name of ["dev", "apply", "get", "label", "mode", "explain", "history", "watch"]) {
      expect(stdout).toContain(`\n  ${name}`);
    }
  });

  it.each([
    [["nonsense"], "unknown command"],
    [["get", "nonsense"], "add --help for what is possible"],
    [["get", "workload"], "Did you mean workloads?"],
    [["apply"], "--file"],
    [["mode", "a=b", "strict"], "Allowed choices"],
    [["explain", "a", "b", "http"], "5432/tcp"],
    [["mode", "a=", "enforced"], "selector"],
    [["topology", "diff", "--replicas", "2"], "1, 3 or 5"],
    [["dev", "--port", "70000"], "port"],
    [["pull", "--repo", "/nowhere", "--gateway", "../x", "--env", "prod"], "no name of a folder"],
  ])("ends %j with code 2 and says what is possible", async (argv, hint) => {
    const { code, stdout, stderr } = await ringwall(argv);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(hint);
  });

  it("refuses labels out of grammar with all problems and code 3, before it connects", async () => {
    const { code, stderr } = await ringwall(["label", "web-1", "role=", "_x=y", "plain"]);
    expect(code).toBe(3);
    expect(stderr).toContain('"" is no value for role');
    expect(stderr).toContain('"_x" is no label key');
    expect(stderr).toContain('"plain": write key=value');
  });

  it("ends with code 4 and one clear line when the control plane is not reachable", async () => {
    expect(await ringwall(["get", "workloads"])).toEqual({
      code: 4,
      stdout: "",
      stderr: "error: not reachable\n→ start it\n",
    });
    const { code, stdout } = await ringwall(["history", "--json"]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "transport", exitCode: 4 } });
  });

  it("gives usage errors as a JSON document too", async () => {
    const { code, stdout, stderr } = await ringwall(["nonsense", "--json"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "usage", exitCode: 2 } });
  });

  it("names files that are not there", async () => {
    const { code, stderr } = await ringwall(["apply", "-f", "/nowhere/a.yaml"]);
    expect(code).toBe(2);
    expect(stderr).toContain("/nowhere/a.yaml: no such file");
  });

  it.each(["bash", "zsh", "fish"])(
    "prints a completion for %s that knows subcommands",
    async (shell) => {
      const { code, stdout } = await ringwall(["completion", shell]);
      expect(code).toBe(0);
      expect(stdout).toContain("workloads");
      expect(stdout).toContain("accept-state");
    },
  );
});
