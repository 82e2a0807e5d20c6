import { canonicalRoute } from "@ringwall/rendered";
import type { OutboundRoute } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { namesFile } from "./names-file.ts";
import { routeParts } from "./route-parts.ts";

function route(
  ...splits: readonly (readonly [string, number, readonly string[]])[]
): OutboundRoute {
  return canonicalRoute({
    $typeName: "ringwall.v1.OutboundRoute",
    outbound: "shop/database",
    route: "shop/replicas",
    virtualAddressV4: "240.0.0.1",
    virtualAddressV6: "fd5e:956f:5b7e::1",
    splits: splits.map(([key, weight, endpoints]) => ({
      $typeName: "ringwall.v1.RouteSplit",
      key,
      weight,
      endpoints: [...endpoints],
    })),
  });
}

describe("routeParts", () => {
  it("gives shares among the splits that have an endpoint for a family and port", () => {
    const parts = routeParts([
      route(
        ["a", 75, ["tcp/10.0.0.1:5432@5432", "tcp/10.0.0.2:5432@5432"]],
        ["b", 25, ["tcp/10.0.0.3:5432@5432", "tcp/[fd00::3]:5432@5432", "udp/10.0.0.3:53@53"]],
      ),
    ]);
    expect(
      parts.map(({ virtualAddress, servicePort, split, share }) => ({
        virtualAddress,
        servicePort,
        split,
        share,
      })),
    ).toEqual([
      { virtualAddress: "240.0.0.1", servicePort: "tcp/5432", split: "a", share: 0.75 },
      { virtualAddress: "240.0.0.1", servicePort: "tcp/5432", split: "b", share: 0.25 },
      { virtualAddress: "240.0.0.1", servicePort: "udp/53", split: "b", share: 1 },
      { virtualAddress: "fd5e:956f:5b7e::1", servicePort: "tcp/5432", split: "b", share: 1 },
    ]);
    expect(parts[0]?.endpoints).toEqual(["10.0.0.1:5432", "10.0.0.2:5432"]);
    expect(parts[3]?.endpoints).toEqual(["[fd00::3]:5432"]);
  });

  it("leaves splits of weight 0 and services without an endpoint out", () => {
    expect(routeParts([route(["a", 0, ["tcp/10.0.0.1:80@80"]], ["b", 1, []])])).toEqual([]);
  });
});

describe("namesFile", () => {
  it("names each virtual address, and no key that could not be a name", () => {
    const odd = { ...route(), outbound: "Shop/data base" };
    expect(namesFile([route(), odd]).split("\n").slice(1)).toEqual([
      "240.0.0.1 database.shop.ringwall.internal",
      "fd5e:956f:5b7e::1 database.shop.ringwall.internal",
      "",
    ]);
  });
});
