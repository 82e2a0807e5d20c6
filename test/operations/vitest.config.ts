import { defineConfig } from "vitest/config";

// What the guides for operators say, on a whole control plane: restore drills, the quickstart.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/operations/**/*.test.ts"],
    environment: "node",
    testTimeout: 150_000,
    hookTimeout: 150_000,
    maxWorkers: 2,
  },
});
