import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Many tests start processes of their own, and each would make JavaScript of the same sources again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

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
