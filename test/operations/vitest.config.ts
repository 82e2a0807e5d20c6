import { defineConfig } from "vitest/config";

// What operators rely on, on a whole control plane: restore drills, the quickstart, traces, metrics.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/operations/**/*.test.ts", "test/telemetry/**/*.test.ts"],
    environment: "node",
    testTimeout: 150_000,
    hookTimeout: 150_000,
    maxWorkers: 2,
  },
});
