import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { filesThatStartProcesses } from "./test/starts-processes.ts";

// Many tests start processes of their own, and each would make JavaScript of the same sources again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

const include = ["src/**/*.test.ts", "test/**/*.test.ts", "conformance/**/*.test.ts"];

/** `--mode quick`: SQLite only, and no child processes. */
const quick = () => ({
  exclude: [...configDefaults.exclude, "src/backend/postgres/**", ...filesThatStartProcesses(include)],
  env: { HOLDFAST_TESTS: "quick" },
});

export default defineConfig(({ mode }) => ({
  test: {
    include,
    ...(mode === "quick" ? quick() : { globalSetup: ["test/postgres-setup.ts"] }),
    // One process runs many files: each would spend as long on loading the sources as on its tests.
    isolate: false,
    // A limit for what hangs, not for what is slow: on a busy machine a test may take many times as long as it does alone.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    // One more than there are cores: many tests wait for a process or the disk, and would leave a core idle meanwhile.
    maxWorkers: availableParallelism() + 1,
  },
}));
