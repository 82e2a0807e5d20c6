import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "services/*/src/**/*.test.ts",
      "test/declared/**/*.test.ts",
      "test/differential/**/*.test.ts",
      "test/e2e/**/*.test.ts",
      "test/kubernetes/**/*.test.ts",
      "test/simulation/**/*.test.ts",
      "test/vectors/**/*.test.ts",
    ],
    environment: "node",
    testTimeout: 150_000,
    hookTimeout: 150_000,
    maxWorkers: 2,
  },
});
