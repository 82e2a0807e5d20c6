import { create, toBinary } from "@bufbuild/protobuf";
import { type NatsServer, startNats } from "@ringwall/testkit";
import {
  ChangeListSchema,
  CommitRequestSchema,
  CommitResponseSchema,
  GetBlobRequestSchema,
  GetBlobResponseSchema,
  Layer,
  ListCommitsRequestSchema,
  ListCommitsResponseSchema,
} from "@ringwall/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Rig, serviceFile } from "../testing/rig.ts";

describe("configuration", () => {
  let nats: NatsServer;
  let rig: Rig;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.stop());
  beforeEach(async () => {
    await nats.kill();
    await nats.wipe();
    await nats.restart();
    rig = await Rig.connect(nats);
  });
  afterEach(() => rig.close());

  it("is held until the first commit, which fixes generation and environment", async () => {
    const keeper = await rig.keeper();
    await rig.says(keeper, "CONFIG has no commit");
    expect((await rig.tree()).environment).toBe("prod");
    const response = await rig.commit([serviceFile("web", 443)]);
    expect(response.result.case).toBe("accepted");
    await rig.says(keeper, "");
    const tree = await rig.tree();
    expect(tree.files.map(({ path }) => path)).toEqual(["policy/service/web/service.yaml"]);
    expect(tree.commit?.author).toBe("test");
    expect(Number(tree.commit?.inputs?.generation)).toBeGreaterThan(Date.now() - 60_000);
  });

  it("answers a commit on an outdated parent with who, when and what, and writes nothing", async () => {
    await rig.says(await rig.keeper(), /no commit/);
    await rig.commit([serviceFile("web", 443)], { author: "ann" });
    const base = (await rig.tree()).commit?.inputs?.commitId;
    await rig.commit([serviceFile("api", 8080)], { author: "bob" });
    const response = await rig.commit([serviceFile("db", 5432)], base ? { parent: base } : {});
    expect(response.result.case).toBe("conflict");
    const head = response.result.case === "conflict" ? response.result.value.head : undefined;
    expect(head?.author).toBe("bob");
    expect(head?.puts).toBe(1);
    expect((await rig.tree()).files).toHaveLength(2);
  });

  it("lets one of many concurrent commits through two instances win and the others conflict", async () => {
    await rig.says(await rig.keeper(), /no commit/);
    await rig.says(await rig.keeper(), /no commit/);
    await rig.commit([serviceFile("web", 443)]);
    const parent = (await rig.tree()).commit?.inputs?.commitId ?? new Uint8Array(0);
    const names = Array.from({ length: 12 }, (_, index) => `svc-${index}`);
    const responses = await Promise.all(
      names.map((name) => rig.commit([serviceFile(name, 80)], { parent })),
    );
    const cases = responses.map(({ result }) => result.case);
    expect(cases.filter((one) => one === "accepted")).toHaveLength(1);
    expect(cases.filter((one) => one === "conflict")).toHaveLength(11);
    expect((await rig.tree()).files).toHaveLength(2);
  });

  it("refuses a tree with all findings at once, and stores nothing", async () => {
    await rig.says(await rig.keeper(), /no commit/);
    const response = await rig.commit([
      serviceFile("web", "70000"),
      { path: "policy/service/bad/service.yaml", text: "kind: Service\nname: bad\nwhat: 1\n" },
      { path: "policy/service/bin/service.yaml", text: "kind: Service\nname: bin\nentries: []\n" },
    ]);
    const findings = response.result.case === "rejected" ? response.result.value.findings : [];
    const rules = findings.map(({ rule }) => rule);
    expect(rules).toContain("port-range");
    expect(rules).toContain("key-unknown");
    expect(rules).toContain("entries-required");
    expect(findings.every(({ file }) => file.startsWith("core/policy/"))).toBe(true);
    expect((await rig.tree()).commit).toBeUndefined();
  });

  it("checks without writing on a dry run, and says when nothing would change", async () => {
    await rig.says(await rig.keeper(), /no commit/);
    const dry = await rig.commit([serviceFile("web", 443)], { dryRun: true });
    expect(dry.result.case).toBe("accepted");
    expect((await rig.tree()).commit).toBeUndefined();
    await rig.commit([serviceFile("web", 443)]);
    const again = await rig.commit([serviceFile("web", 443)]);
    expect(again.result).toMatchObject({ case: "accepted", value: { unchanged: true } });
    expect((await rig.tree()).commit?.inputs?.configSequence).toBe(1n);
  });

  it("refuses another environment", async () => {
    const keeper = await rig.keeper();
    await rig.says(keeper, /no commit/);
    const wrong = await rig.commit([serviceFile("web", 443)], { environment: "staging" });
    expect(wrong.result).toMatchObject({ case: "error", value: { code: "wrong_environment" } });
    await rig.commit([serviceFile("web", 443)]);
    await rig.end(keeper);
    const stranger = await rig.keeper({ env: "staging" });
    await rig.says(stranger, /serves environment "prod", this instance was started for "staging"/);
    const refused = await rig.commit([serviceFile("api", 80)], { environment: "staging" });
    expect(refused.result).toMatchObject({ case: "error", value: { code: "wrong_environment" } });
  });

  it("keeps the tree over a restart, and reads older commits", async () => {
    const keeper = await rig.keeper();
    await rig.says(keeper, /no commit/);
    await rig.commit([serviceFile("web", 443)]);
    const first = (await rig.tree()).commit?.inputs?.commitId ?? new Uint8Array(0);
    await rig.commit([
      { ...serviceFile("web", 8443), layer: Layer.ENVIRONMENT },
      serviceFile("api", 80),
    ]);
    await rig.commit([{ path: "policy/service/web/service.yaml" }]);
    await rig.end(keeper);
    await rig.says(await rig.keeper(), "");
    const paths = (files: { layer: number; path: string }[]) =>
      files.map(({ layer, path }) => `${layer}/${path.split("/")[2]}`);
    expect(paths((await rig.tree()).files)).toEqual(["1/api", "2/web"]);
    expect(paths((await rig.tree(first)).files)).toEqual(["1/web"]);
    const listed = await rig.call("commits", ListCommitsRequestSchema, ListCommitsResponseSchema, {
      limit: 2,
    });
    expect(listed.commits.map(({ puts, deletes }) => [puts, deletes])).toEqual([
      [0, 1],
      [2, 0],
    ]);
    expect(listed.more).toBe(true);
  });

  it("stores a list of changes above the message limit as a blob", async () => {
    const keeper = await rig.keeper();
    await rig.says(keeper, /no commit/);
    const sha256 = await rig.blob("opaque");
    const puts = Array.from({ length: 6_000 }, (_, index) => ({
      layer: Layer.CORE,
      path: `module/type/unit-with-a-rather-long-name-${String(index).padStart(6, "0")}/file.txt`,
      sha256,
      size: 6n,
    }));
    const list = toBinary(ChangeListSchema, create(ChangeListSchema, { puts }));
    expect(list.length).toBeGreaterThan(512 * 1024);
    const changesBlob = await rig.blob(list);
    const request = { author: "test", changesBlob, environment: "prod" };
    const response = await rig.call("commit", CommitRequestSchema, CommitResponseSchema, request);
    expect(response.result.case).toBe("accepted");
    await rig.end(keeper);
    await rig.says(await rig.keeper(), "");
    const page = await rig.tree();
    expect(page.files).toHaveLength(2_000);
    expect(page.more).toBe(true);
  });

  it("refuses a commit whose blob is missing, and gives stored blobs back", async () => {
    await rig.says(await rig.keeper(), /no commit/);
    const put = { layer: Layer.CORE, path: "a/b", sha256: new Uint8Array(32), size: 1n };
    const request = { author: "test", environment: "prod", puts: [put] };
    const response = await rig.call("commit", CommitRequestSchema, CommitResponseSchema, request);
    expect(response.result).toMatchObject({ case: "error", value: { code: "invalid" } });
    const sha256 = await rig.blob("hello");
    const blob = await rig.call("get-blob", GetBlobRequestSchema, GetBlobResponseSchema, {
      sha256,
    });
    expect(new TextDecoder().decode(blob.data)).toBe("hello");
  });
});
