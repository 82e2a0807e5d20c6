import { describe, expect, it } from "vitest";
import { parseJson } from "../json/parse-json.ts";
import { scanSecrets } from "./secrets.ts";

const REFERENCE = '{"type":"Referenced","data":{"providerName":"p","secretName":"s"}}';
const scan = (text: string, paths: readonly string[] = []) =>
  scanSecrets(
    parseJson(text),
    "config.json",
    paths.map((key) => ({ file: "config.json", keys: [key] })),
  ).map(({ path, kind }) => `${path} ${kind}`);

describe("scanSecrets", () => {
  it("finds an embedded secret anywhere, once", () => {
    const embedded = '{"type":"Embedded","data":{"password":"x"}}';
    expect(scan(`{"a":[1,${embedded}]}`)).toEqual(["$.a[1] embedded"]);
    expect(scan(`{"password":${embedded}}`, ["password"])).toEqual(["$.password embedded"]);
  });

  it("lets only null and an exact reference stand at a place for secrets", () => {
    expect(scan('{"password":null}', ["password"])).toEqual([]);
    expect(scan(`{"password":${REFERENCE}}`, ["password"])).toEqual([]);
    for (const value of ['""', "5", "{}", "[]", "false", REFERENCE.replace('"s"', "1")]) {
      expect(scan(`{"password":${value}}`, ["password"])).toEqual(["$.password plaintext"]);
    }
  });

  it("goes by key names where a type has no places, references apart", () => {
    expect(scan('{"dbPASSWORD":"x","a":{"Secrets":["y",""]},"secret":""}')).toEqual([
      "$.dbPASSWORD plaintext",
      "$.a.Secrets[0] plaintext",
    ]);
    expect(scan(`{"password":${REFERENCE}}`)).toEqual([]);
    expect(scan('{"dbPassword":"x"}', ["password"])).toEqual([]);
  });
});
