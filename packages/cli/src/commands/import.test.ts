import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../run.ts";

const POD = { kind: "Pod", metadata: { name: "web", namespace: "shop", uid: "1" } };

let directory: string;
let stderr: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-import-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Runs the import of one document where no control plane may be asked. */
async function imported(document: unknown, ...options: readonly string[]): Promise<number> {
  stderr = "";
  const file = join(directory, "pods.json");
  await writeFile(file, JSON.stringify(document));
  return run(["import", "kubernetes", "-f", file, ...options], {
    stdout: { write: () => true },
    stderr: { write: (text) => (stderr += text) },
    environment: {},
    interrupted: new AbortController().signal,
    connect: () => Promise.reject(new Error("nobody asked for a control plane")),
  });
}

describe("ringwall import kubernetes", () => {
  it("removes no pod because a file is empty", async () => {
    expect(await imported({ kind: "List", items: [] }, "--prune")).toBe(6);
    expect(stderr).toContain("the files hold no running pod");
  });

  it("removes no pod because a part of a file can't be read", async () => {
    expect(await imported({ kind: "List", items: [POD, []] }, "--prune")).toBe(6);
    expect(stderr).toContain("1 objects of the files can't be read");
  });

  it("refuses a document that is no Kubernetes object", async () => {
    expect(await imported([POD])).toBe(3);
    expect(stderr).toContain("kubectl get pods,svc -A -o json");
  });

  it("reads a list whole", async () => {
    expect(await imported({ kind: "List", items: [POD] }, "--prune", "--dry-run")).toBe(0);
  });
});
