import fc from "fast-check";

/** A secret's value, unlike anything else that is generated, so that it is found wherever it goes. */
export const SECRET = /S3CRET[0-9a-f]{8}/;

/** A new secret's value. */
export const secret: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0xffffffff })
  .map((number) => `S3CRET${number.toString(16).padStart(8, "0")}`);

const reference = '{"type":"Referenced","data":{"providerName":"vault","secretName":"db"}}';

/** JSON in the gateway's own layout. */
export function gatewayJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(
    /[<>&='\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const harmless: fc.Arbitrary<string> = fc.oneof(
  fc.record({ driver: fc.string({ maxLength: 8 }), n: fc.integer() }).map(gatewayJson),
  fc.constant("{}"),
  fc.constant('{\n  "v": 1.50,\n  "10": -0.0,\n  "2": 1E400\n}'),
  fc.constant('{"one":"line", "is":[1,2]}'),
  fc.constant('{\n  "password": null\n}'),
  fc.constant(`{ "password": ${reference} }`),
  fc.jsonValue({ maxDepth: 3 }).map((value) => gatewayJson({ value })),
);

const broken: fc.Arbitrary<string> = fc.constantFrom(
  '{"a":',
  '{"a":1,"a":2}',
  "\ufeff{}",
  "",
  "[1,]",
);

/** A `config.json` of a type whose only secret is `password` at the root. */
export const configWithPasswordPath: fc.Arbitrary<string> = fc.oneof(
  { weight: 24, arbitrary: harmless },
  { weight: 1, arbitrary: secret.map((value) => gatewayJson({ driver: "x", password: value })) },
  {
    weight: 1,
    arbitrary: secret.map((value) =>
      gatewayJson({ extra: [{ a: { type: "Embedded", data: { ciphertext: value } } }] }),
    ),
  },
  {
    weight: 1,
    arbitrary: secret.map((value) => `{"password":{"type":"Embedded","data":"${value}"}}`),
  },
  { weight: 1, arbitrary: broken },
);

/** A `config.json` of a type where key names tell secrets. */
export const configByKeyName: fc.Arbitrary<string> = fc.oneof(
  { weight: 24, arbitrary: harmless },
  {
    weight: 1,
    arbitrary: fc
      .tuple(secret, fc.constantFrom("dbPassword", "SECRET", "client-secret", "passwords"))
      .map(([value, key]) => gatewayJson({ deep: [{ [key]: [value] }] })),
  },
  {
    weight: 1,
    arbitrary: secret.map((value) => gatewayJson({ x: { type: "Embedded", data: value } })),
  },
  { weight: 1, arbitrary: broken },
);

const UUIDS = Array.from(
  { length: 12 },
  (_, index) => `1b9e0c52-7a41-4d0e-9c35-0a6f2d8e41${String(index).padStart(2, "0")}`,
);

/** A `resource.json`: with or without uuid, in the gateway's layout or not, now and then broken. */
export const resourceJson: fc.Arbitrary<string> = fc
  .record({
    uuid: fc.option(fc.constantFrom(...UUIDS), { freq: 12 }),
    attributes: fc.boolean(),
    opaque: fc.boolean(),
    broken: fc.nat({ max: 40 }).map((number) => number === 0),
    odd: fc.nat({ max: 40 }).map((number) => number === 0),
  })
  .map(({ uuid, attributes, opaque, broken: isBroken, odd }) => {
    if (isBroken) return '{"scope":';
    if (odd) return gatewayJson({ attributes: { uuid: 5 } });
    const value = {
      scope: "A",
      version: 1,
      files: ["config.json"],
      ...(uuid !== null
        ? { attributes: { actor: "a=b", uuid } }
        : attributes
          ? { attributes: {} }
          : {}),
    };
    return opaque ? JSON.stringify(value) : gatewayJson(value);
  });

/** A tag folder's marker for these members. */
export function markerJson(members: readonly string[]): string {
  return gatewayJson({ scope: "A", version: 1, files: members, attributes: {} });
}
