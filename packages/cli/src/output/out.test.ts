import { describe, expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { Out } from "./out.ts";

function capture(json: boolean) {
  const written = { stdout: "", stderr: "" };
  const out = new Out({
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    json,
    colour: true,
    environment: {},
  });
  return { out, written };
}

const REFUSED = new CliError("invalid", "refused: 2 errors", {
  hint: "mend them",
  findings: [
    { file: "b.yaml", line: 2, path: "name", rule: "type", message: "no", warning: false },
    { file: "a.yaml", line: 0, path: "", rule: "yaml", message: "bad", warning: false },
  ],
});

describe("Out", () => {
  it("writes a result as one JSON document or as lines, to stdout", () => {
    const json = capture(true);
    json.out.result({ count: 1n, big: 2n ** 60n }, () => ["one"]);
    expect(JSON.parse(json.written.stdout)).toEqual({ count: 1, big: "1152921504606846976" });
    const human = capture(false);
    human.out.result({ count: 1n }, () => ["one", "two"]);
    expect(human.written).toEqual({ stdout: "one\ntwo\n", stderr: "" });
  });

  it("shows an error with findings in order of file, then what to do, on stderr", () => {
    const { out, written } = capture(false);
    expect(out.failure(REFUSED)).toBe(3);
    expect(written.stdout).toBe("");
    expect(written.stderr).toBe(
      "a.yaml: error[yaml] bad\nb.yaml:2: error[type] name: no\n" +
        "error: refused: 2 errors\n→ mend them\n",
    );
  });

  it("gives an error as the one JSON document of the command", () => {
    const { out, written } = capture(true);
    expect(out.failure(REFUSED)).toBe(3);
    expect(JSON.parse(written.stdout)).toMatchObject({
      error: { code: "invalid", exitCode: 3, hint: "mend them", findings: [{}, {}] },
    });
  });
});
