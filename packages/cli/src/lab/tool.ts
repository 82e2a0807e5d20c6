import { spawn } from "node:child_process";
import { CliError } from "../errors.ts";

/** Runs a program of the host and gives what it printed; its failure is a CliError with its words. */
export function runTool(binary: string, args: readonly string[], input = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [...args]);
    let output = "";
    let words = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      words += part;
    });
    child.once("error", (error) => {
      reject(
        new CliError("refused", `${binary} can't be run: ${error.message}`, {
          hint: "the packages iproute2, nftables and iputils-ping are needed",
        }),
      );
    });
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else {
        const what = `${binary} ${args.join(" ")}: ${words.trim() || `exit ${code}`}`;
        reject(
          new CliError(/not permitted|denied/i.test(words) ? "denied" : "refused", what, {
            hint: "network namespaces need root",
          }),
        );
      }
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
