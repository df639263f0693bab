import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "conformance/**/*.test.ts"],
    globalSetup: ["test/postgres-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One less than there are cores would leave half of a small machine idle.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});
