import { hostname, userInfo } from "node:os";
import { InvalidArgumentError, Option } from "commander";

/** Reads a whole number that is not negative. */
export function readCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Write a whole number, 0 or more.");
  return Number(text);
}

/** Reads a positive number of seconds. */
export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > 86_400) {
    throw new InvalidArgumentError("Write seconds, more than 0 and at most 86400.");
  }
  return seconds;
}

/** `--author`: who is named in the commit. */
export function authorOption(): Option {
  return new Option("--author <name>", "who is named in the commit (default: user@host)").env(
    "RINGWALL_AUTHOR",
  );
}

/** The author that the commit names when nobody said one. */
export function defaultAuthor(): string {
  return `${userName()}@${hostname()}`;
}

/** `--wait[=S]`: end only when every agent has the change. */
export function waitOption(): Option {
  return new Option(
    "--wait [seconds]",
    "wait until every agent has acknowledged; code 7 with who is missing after that time " +
      "(default: 30)",
  ).argParser(readSeconds);
}

// A user id without an entry in the user database, as in many containers, has no name.
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
