import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/**
 * The flags of a script. For `--help` its usage is printed and the process ends with 0; for flags that
 * it does not know, with 2.
 */
export function readFlags<T extends ParseArgsOptionsConfig>(usage: string, options: T) {
  if (process.argv.includes("--help")) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    return parseArgs<{ options: T }>({ options }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}
