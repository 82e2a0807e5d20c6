import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Names, names, partitionOf, type RunningService } from "@ringwall/bus";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import {
  MarkEnforcedRequestSchema,
  MarkEnforcedResponseSchema,
  type PortClass,
  type Presence,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freshPrefix, registrarClient, startRegistrar } from "./testing/registrar-client.ts";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

const running: RunningService[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

async function registrar(prefix: string) {
  const service = await startRegistrar(nats, prefix);
  running.push(service);
  return { service, ...registrarClient(service) };
}

function pod(id: string, labels: Record<string, string> = { app: "web" }) {
  return {
    id,
    source: WorkloadSource.KUBERNETES,
    labels,
    addresses: ["10.0.0.1/24", "127.0.0.1"],
    services: ["shop/web"],
  };
}

/** Writes a value of REGISTRY as an operator with the nats command would. */
async function edit(
  service: RunningService,
  at: Names,
  id: string,
  change: (bytes: Uint8Array) => Uint8Array,
) {
  const subject = at.registryWorkload(partitionOf(id), id);
  const before = await service.bus.jsm.streams.getMessage(at.stream("REGISTRY"), {
    last_by_subj: subject,
  });
  await service.bus.nc.request(subject, change(before?.data ?? new Uint8Array()));
}

describe("registrar on a real server", () => {
  it("stores a report and lists it at the revision of the answer", async () => {
    const { report, list } = await registrar(freshPrefix());
    const stored = await report(pod("web-1"));
    expect(stored).toMatchObject({ changed: true, problems: [] });
    const listed = await list({ atLeastRevision: stored.revision });
    expect(listed.workloads).toMatchObject([{ id: "web-1", addresses: ["10.0.0.1"] }]);
    expect(listed.revision).toBeGreaterThanOrEqual(stored.revision);
  });

  it("writes nothing for a report that changes nothing", async () => {
    const { report } = await registrar(freshPrefix());
    const first = await report(pod("web-1"));
    const second = await report(pod("web-1"));
    expect(second).toMatchObject({ changed: false, revision: first.revision });
  });

  it("keeps everything over a restart and goes on under the fence", async () => {
    const prefix = freshPrefix();
    const first = await registrar(prefix);
    await first.report(pod("web-1"));
    await first.service.stop();
    const second = await registrar(prefix);
    const changed = await second.report(pod("web-1", { app: "api" }));
    expect(changed.changed).toBe(true);
    const listed = await second.list({ atLeastRevision: changed.revision });
    expect(listed.workloads).toMatchObject([{ id: "web-1", labels: { app: "api" } }]);
  });

  it("removes a workload and takes it in again", async () => {
    const { report, deregister, list } = await registrar(freshPrefix());
    await report(pod("web-1"));
    const gone = await deregister("web-1");
    expect(gone.revision).toBeGreaterThan(0n);
    expect((await list({ atLeastRevision: gone.revision })).workloads).toEqual([]);
    const back = await report(pod("web-1"));
    expect((await list({ atLeastRevision: back.revision })).workloads).toHaveLength(1);
    expect((await deregister("unknown")).revision).toBe(0n);
  });

  it("keeps a removed enforced workload enforced when it comes back, also over a restart", async () => {
    const prefix = freshPrefix();
    const first = await registrar(prefix);
    await first.report(pod("db-1"));
    const subject = `${names(prefix).internal("workload", "enforced")}.${partitionOf("db-1")}`;
    const request = create(MarkEnforcedRequestSchema, { workloads: ["db-1"], enforced: true });
    const answer = await first.service.bus.nc.request(
      subject,
      toBinary(MarkEnforcedRequestSchema, request),
    );
    const marked = fromBinary(MarkEnforcedResponseSchema, answer.data);
    const listed = await first.list({ atLeastRevision: marked.revision });
    expect(listed.workloads).toMatchObject([{ id: "db-1", enforced: true }]);
    await first.deregister("db-1");
    await first.service.stop();
    const second = await registrar(prefix);
    const back = await second.report(pod("db-1"));
    const again = await second.list({ atLeastRevision: back.revision });
    expect(again.workloads).toMatchObject([{ id: "db-1", enforced: true }]);
  });

  it("never creates a workload by a report that must find it", async () => {
    const { report, admit } = await registrar(freshPrefix());
    const agent = { id: "host-1", source: WorkloadSource.AGENT, existingOnly: true };
    expect((await report(agent)).error?.code).toBe("not_found");
    await admit({ id: "host-1", labels: { app: "db" }, namespace: "shop" });
    const stored = await report({ ...agent, addresses: ["10.0.0.9"], services: ["shop/db"] });
    expect(stored).toMatchObject({ changed: true, problems: [] });
  });

  it("hands partitions over between instances without losing a write", async () => {
    const prefix = freshPrefix();
    const first = await registrar(prefix);
    const ids = Array.from({ length: 40 }, (_, each) => `w-${each}`);
    await Promise.all(ids.map((id) => first.report(pod(id))));
    const second = await registrar(prefix);
    const slots = () => [second.service, first.service].map((each) => each.problems());
    await eventually("both serve", () => slots().every((each) => each.length === 0));
    await Promise.all(ids.map((id) => second.report(pod(id, { app: "moved" }))));
    await first.service.stop();
    await Promise.all(ids.map((id) => second.report(pod(id, { app: "alone" }))));
    const listed = await second.list();
    expect(listed.workloads.map((each) => each.labels.app)).toEqual(ids.map(() => "alone"));
  });

  it("goes on after a value was edited by hand, and filters the bad row", async () => {
    const prefix = freshPrefix();
    const { service, report, list } = await registrar(prefix);
    await report(pod("web-1"));
    await report({ ...pod("web-2"), addresses: ["10.0.0.2"] });
    await edit(service, names(prefix), "web-1", (bytes) => {
      const record = fromBinary(WorkloadRecordSchema, bytes);
      for (const row of record.rows) {
        row.portClasses = {};
      }
      return toBinary(WorkloadRecordSchema, record);
    });
    const refused = await eventually(
      "the edit is seen",
      () => list({ includeRefused: true }),
      (listed) => listed.refused.length > 0,
    );
    expect(refused.refused).toMatchObject([{ workload: "web-1", reason: "no_port_protocols" }]);
    expect(refused.workloads).toMatchObject([
      { id: "web-1", rows: [] },
      { id: "web-2", rows: [{ service: "shop/web" }] },
    ]);
    const metrics = await service.telemetry.metrics.page();
    expect(metrics).toContain('ringwall_refused_rows{reason="no_port_protocols"} 1');
    expect(metrics).toContain('ringwall_refused_rows{reason="port_not_typed"} 0');
    const repaired = await report({ ...pod("web-1"), labels: { app: "repaired" } });
    expect(repaired).toMatchObject({ changed: true });
  });

  it("keeps a class and a presence that this build does not know", async () => {
    const prefix = freshPrefix();
    const { service, report, list } = await registrar(prefix);
    await report(pod("web-1"));
    await edit(service, names(prefix), "web-1", (bytes) => {
      const record = fromBinary(WorkloadRecordSchema, bytes);
      for (const row of record.rows) {
        row.portClasses[row.port] = 99 as PortClass;
      }
      record.presence = 77 as Presence;
      return toBinary(WorkloadRecordSchema, record);
    });
    const seen = await eventually(
      "the edit is seen",
      () => list({ includeRefused: true }),
      (listed) => listed.refused.length > 0,
    );
    expect(seen.refused[0]?.row?.portClasses).toEqual({ 8080: 99 });
    expect(seen.workloads[0]?.presence).toBe(77 as Presence);
  });
});
