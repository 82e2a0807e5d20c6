import { KubernetesModel, kubernetesReports } from "@ringwall/sources";
import { type NatsServer, startNats } from "@ringwall/testkit";
import type { ReportWorkloadRequest, WorkloadRecord } from "@ringwall/wire";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ExpectedWorkload,
  kubernetesEstate,
  rollingRestart,
  type WatchedEvent,
} from "../testing/kubernetes-estate.ts";
import { freshPrefix, registrarClient, startRegistrar } from "../testing/registrar-client.ts";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

function shown(record: WorkloadRecord): ExpectedWorkload {
  return {
    labels: record.labels,
    addresses: record.addresses,
    presence: record.presence,
    outbounds: record.outbounds,
    rows: record.rows.map((row) => [row.service, row.address, row.port, { ...row.portClasses }]),
  };
}

function play(model: KubernetesModel, events: readonly WatchedEvent[]): void {
  for (const { type, object } of events) {
    if (type === "DELETED") {
      model.delete(object);
    } else {
      model.put(object);
    }
  }
}

/** What a registry holds that is told each change as it comes. */
function told(events: readonly WatchedEvent[]): Map<string, ReportWorkloadRequest> {
  const model = new KubernetesModel();
  const registry = new Map<string, ReportWorkloadRequest>();
  for (const event of events) {
    play(model, [event]);
    const { reports, removes } = model.takeChanges();
    for (const report of reports) {
      registry.set(report.id, report);
    }
    for (const id of removes) {
      registry.delete(id);
    }
  }
  return new Map([...registry].sort());
}

describe("a Kubernetes estate", () => {
  it("of more than 300 pods is in the registry as an independent reading expects it", async () => {
    const estate = kubernetesEstate();
    expect(estate.pods).toBeGreaterThanOrEqual(300);
    const service = await startRegistrar(nats, freshPrefix());
    const { report, list } = registrarClient(service);
    const { reports, problems } = kubernetesReports({ kind: "List", items: estate.objects });
    expect(problems).toEqual([]);
    const answers = await Promise.all(reports.map((request) => report(request)));
    expect(answers.flatMap((answer) => answer.problems.filter((each) => each.refused))).toEqual([]);
    const revision = BigInt(Math.max(...answers.map((each) => Number(each.revision))));
    const listed = await list({ limit: 1_000, atLeastRevision: revision });
    const actual = Object.fromEntries(listed.workloads.map((record) => [record.id, shown(record)]));
    expect(actual).toEqual(Object.fromEntries(estate.expected));
    const again = await Promise.all(reports.map((request) => report(request)));
    expect(again.filter((answer) => answer.changed)).toEqual([]);
    await service.stop();
  });

  it("ends the same after a rolling restart, shuffled and with events told twice", () => {
    const events = rollingRestart(6);
    const wanted = told(events);
    expect([...wanted.keys()]).toEqual([0, 1, 2, 3, 4, 5].map((each) => `shop_web-new-${each}`));
    const shuffled = fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 });
    fc.assert(
      fc.property(shuffled, (played) => {
        expect(told(played)).toEqual(wanted);
      }),
      { numRuns: 200 },
    );
  });
});
