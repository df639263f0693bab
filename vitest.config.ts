import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Many tests start processes of their own, and each would make JavaScript of the same sources again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "conformance/**/*.test.ts"],
    globalSetup: ["test/postgres-setup.ts"],
    // One process runs many files: each would spend as long on loading the sources as on its tests.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than there are cores: many tests wait for a process or the disk, and would leave a core idle meanwhile.
    maxWorkers: availableParallelism() + 1,
  },
});
