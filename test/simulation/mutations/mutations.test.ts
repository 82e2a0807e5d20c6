import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MUTATIONS } from "./mutations.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCES = globSync("{packages,services}/*/src/**/*.ts", { cwd: ROOT });

describe("the mutations", () => {
  it.each(MUTATIONS.map(({ name, patches }) => [name, patches] as const))(
    "%s fits the sources as they are",
    (_, patches) => {
      for (const { file, find } of patches) {
        const found = SOURCES.filter((source) => source.endsWith(file));
        expect(found, file).toHaveLength(1);
        const text = readFileSync(`${ROOT}${found[0]}`, "utf8");
        expect(text.split(find), `${file}: ${find}`).toHaveLength(2);
      }
    },
  );
});
