import { describe, expect, it } from "vitest";
import { checkObject } from "./check-object.ts";

const pod = { spec: { containers: [{ name: "web", image: "web:1" }] } };
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: { selector: { matchLabels: { app: "web" } }, template: pod },
};

describe("the check of manifests", () => {
  it("takes an object that fits its type", () => {
    expect(checkObject(deployment)).toEqual([]);
  });

  it("names unknown, missing and mistyped fields with their paths", () => {
    const broken = {
      ...deployment,
      spec: { replicas: "two", template: { spec: { containers: [{ imege: "x" }] } } },
    };
    expect(checkObject(broken)).toEqual([
      '.spec.replicas is "two", not a number',
      ".spec.template.spec.containers[0].imege is no field of V1Container",
      ".spec.template.spec.containers[0].name is missing",
      ".spec.selector is missing",
    ]);
  });

  it("refuses a kind that it does not know", () => {
    expect(checkObject({ apiVersion: "v2", kind: "Pod" })).toEqual(["v2 Pod is not known here"]);
  });
});
