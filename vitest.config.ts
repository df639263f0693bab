import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "conformance/**/*.test.ts"],
    globalSetup: ["test/postgres-setup.ts"],
    testTimeout: 30_000,
  },
});
