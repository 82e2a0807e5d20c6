import { execFileSync, spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, freePort } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanEnvironment, MAIN, ROOT } from "./command.ts";
import { DevProcess } from "./dev-process.ts";
import { HeldProxy } from "./held-proxy.ts";

interface PlanDocument {
  readonly live: string;
  readonly hasChanges: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly drift: readonly { readonly path: string; readonly overwritten: boolean }[];
  readonly planSha256: string;
}

interface ApplyDocument {
  readonly unchanged: boolean;
}

interface HistoryDocument {
  readonly commits: readonly { readonly sequence: number; readonly message: string }[];
}

interface ErrorDocument {
  readonly error: {
    readonly exitCode: number;
    readonly conflict?: { readonly author: string; readonly message: string };
  };
}

const SERVICE = "gateways/shop/resources/policy/service/ssh/service.yaml";
const CART = "gateways/shop/resources/policy/inventory/cart-1/inventory.yaml";

/** One life of one control plane and of one repo: the steps build on each other. */
describe("a declared repo", { timeout: 600_000 }, () => {
  let root: string;
  let repo: string;
  let port: number;
  let dev: DevProcess;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "ringwall-declared-"));
    repo = join(root, "repo");
    await cp(join(ROOT, "examples/shop"), repo, { recursive: true });
    git("init", "-q");
    commitAll("the shop");
    port = await freePort();
    dev = new DevProcess(join(root, "state"), port);
    await dev.synced();
  });

  afterAll(async () => {
    await dev.stop();
    await rm(root, { recursive: true, force: true });
  });

  function git(...args: readonly string[]): string {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    return execFileSync("git", [...identity, ...args], { cwd: repo, encoding: "utf8" });
  }

  function commitAll(message: string): void {
    git("add", "-A");
    git("commit", "-qm", message);
  }

  const at = (...args: readonly string[]) => [...args, "--env", "prod", "--repo", repo];
  const plan = () => dev.read<PlanDocument>(...at("plan"));

  async function edit(file: string, change: (text: string) => string): Promise<void> {
    await writeFile(join(repo, file), change(await readFile(join(repo, file), "utf8")));
  }

  async function head(): Promise<HistoryDocument["commits"][number]> {
    const { commits } = await dev.read<HistoryDocument>("history");
    if (commits[0] === undefined) throw new Error("no commit");
    return commits[0];
  }

  /** Runs the command through a proxy; gives its exit code and its JSON document. */
  async function runThrough(proxy: HeldProxy, ...args: readonly string[]) {
    const child = spawn(process.execPath, [MAIN, "--nats-url", proxy.url, "--json", ...args], {
      cwd: ROOT,
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    const ended = new Promise<{ code: number | null; stdout: string }>((resolve) => {
      child.once("close", (code) => resolve({ code, stdout }));
    });
    return { child, ended };
  }

  it("is what the control plane holds, and applying it makes it the owner", async () => {
    expect(await plan()).toMatchObject({ hasChanges: false, counts: { unmanaged: 0 } });
    expect((await dev.run(...at("verify"))).code).toBe(6);
    await dev.read(...at("apply"), "-m", "take over");
    expect((await dev.run(...at("verify"))).code).toBe(0);
    expect((await dev.run(...at("plan"), "--check")).code).toBe(0);
    expect(await head()).toMatchObject({ message: "take over" });
  });

  it("is refused by a control plane of another environment", async () => {
    const outcome = await dev.run("plan", "--env", "staging", "--repo", repo);
    expect(outcome).toMatchObject({ code: 6, stderr: expect.stringContaining('"prod"') });
  });

  it("drifts by a live edit, and a pull takes exactly that edit over", async () => {
    await dev.read("label", "cart-1", "tier=seven");
    const checked = await dev.run("--json", ...at("plan"), "--check");
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      hasChanges: true,
      counts: { changed: 1 },
      drift: [{ path: "core/policy/inventory/cart-1/inventory.yaml", overwritten: true }],
    });
    const refused = await dev.run(...at("apply"));
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("--allow-drift") });
    expect((await dev.run(...at("pull"))).code).toBe(2);

    await dev.read(...at("pull"), "--yes");

    expect(git("status", "--porcelain").trim()).toBe(`M ${CART}`);
    const diff = git("diff", "-U0", "--", CART)
      .split("\n")
      .filter((line) => /^[+-][^+-]/.test(line));
    expect(diff).toEqual(["+labels:", "+  tier: seven"]);
    await dev.read(...at("pull"), "--yes");
    expect(
      git("diff", "-U0", "--", CART)
        .split("\n")
        .filter((line) => /^[+-][^+-]/.test(line)),
    ).toEqual(diff);
    expect(await plan()).toMatchObject({ hasChanges: false, drift: [] });
    await dev.read(...at("apply"));
    expect((await dev.run(...at("plan"), "--check")).code).toBe(0);
    commitAll("take the label over");
  });

  it("tells the second of two concurrent applies who was first, and planning again works", async () => {
    await edit(SERVICE, (text) => `${text}\n# first\n`);
    await using proxy = await HeldProxy.start(port, (subject) =>
      subject.endsWith(".config.commit") ? "hold" : "pass",
    );
    const slow = await runThrough(proxy, ...at("apply"), "--author", "slow");
    await eventually("the first apply asks for its commit", () => proxy.isHolding);
    await edit(SERVICE, (text) => `${text}# second\n`);
    await dev.read(...at("apply"), "--author", "fast", "-m", "was first");
    proxy.release();
    const { code, stdout } = await slow.ended;
    expect(code).toBe(6);
    const document: ErrorDocument = JSON.parse(stdout);
    expect(document.error.conflict).toMatchObject({ author: "fast", message: "was first" });
    expect(await plan()).toMatchObject({ hasChanges: false });
    await edit(SERVICE, (text) => `${text}# third\n`);
    await dev.read(...at("apply"), "--author", "slow");
    expect(await plan()).toMatchObject({ hasChanges: false });
    commitAll("comments");
  });

  it("is killed at ten points of an apply: the live tree is the old or the new one", async () => {
    const seen = new Set<boolean>();
    let { live } = await plan();
    for (let point = 1; point <= 10; point += 1) {
      await edit(SERVICE, (text) => `${text}# point ${point}\n`);
      let requests = 0;
      let kill = (): void => undefined;
      await using proxy = await HeldProxy.start(port, () => {
        requests += 1;
        if (requests < Math.ceil(point / 2)) return "pass";
        const isSent = point % 2 === 0;
        setTimeout(() => kill(), isSent ? 15 : 0);
        return isSent ? "pass" : "drop";
      });
      const { child, ended } = await runThrough(proxy, ...at("apply"));
      kill = () => child.kill("SIGKILL");
      await ended;
      const after = await dev.read<PlanDocument & ApplyDocument>(...at("apply"));
      if (after.unchanged) expect(after.live).not.toBe(live);
      else expect(after).toMatchObject({ live, counts: { added: 0, changed: 1, removed: 0 } });
      seen.add(after.unchanged);
      ({ live } = await plan());
    }
    expect(seen).toContain(false);
  });

  it("is rolled back to an earlier commit, and every agent converges", async () => {
    const { commits } = await dev.read<HistoryDocument>("history");
    const first = commits.at(-1);
    const shown = await dev.run("rollback", "--to", String(first?.sequence));
    expect(shown).toMatchObject({ code: 2, stdout: expect.stringContaining("cart-1") });
    await dev.read("rollback", "--to", String(first?.sequence), "--yes", "--wait=30");
    await dev.synced();
    expect((await plan()).counts).toMatchObject({ changed: 2, added: 0, removed: 0 });
    await dev.read(...at("apply"), "--wait=30");
    expect(await plan()).toMatchObject({ hasChanges: false });
  });
});
