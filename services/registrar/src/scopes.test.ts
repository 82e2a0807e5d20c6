import { describe, expect, it } from "vitest";
import { Scopes } from "./scopes.ts";
import { inSubnet, parseSubnet } from "./subnet.ts";

function contains(subnet: string, address: string): boolean | undefined {
  const parsed = parseSubnet(subnet);
  return parsed === undefined ? undefined : inSubnet(address, parsed);
}

describe("subnets", () => {
  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["10.0.0.9/30", "10.0.0.10", true],
    ["0.0.0.0/0", "203.0.113.7", true],
    ["0.0.0.0/0", "fd00::1", false],
    ["fd00::/8", "fdff::1", true],
    ["::/0", "2001:db8::1", true],
    ["2001:db8::/33", "2001:db8:8000::1", false],
    ["10.0.0.0/33", "10.0.0.1", undefined],
    ["10.0.0.0/08", "10.0.0.1", undefined],
    ["10.0.0.0/8/8", "10.0.0.1", undefined],
    ["300.0.0.0/8", "10.0.0.1", undefined],
    ["fd00::%eth0/8", "fd00::1", undefined],
  ])("%s contains %s: %s", (subnet, address, wanted) => {
    expect(contains(subnet, address)).toBe(wanted);
  });
});

describe("scopes", () => {
  it("allow a namespace its own services unless they list others", () => {
    const scopes = new Scopes({ shop: { services: ["shared/*", "ops/metrics"] } });
    expect(scopes.allowsService("web", "web/api")).toBe(true);
    expect(scopes.allowsService("web", "shop/api")).toBe(false);
    expect(scopes.allowsService("shop", "shop/api")).toBe(false);
    expect(scopes.allowsService("shop", "shared/any")).toBe(true);
    expect(scopes.allowsService("shop", "ops/metrics")).toBe(true);
    expect(scopes.describeServices("shop")).toBe("ops/metrics, shared/*");
  });

  it("refuse to be made from patterns and subnets that do not parse", () => {
    expect(() => new Scopes({ a: { services: ["*/x"] } })).toThrow(RangeError);
    expect(() => new Scopes({ a: { subnets: ["10.0.0.0/40"] } })).toThrow(/subnet "10.0.0.0\/40"/);
  });
});
