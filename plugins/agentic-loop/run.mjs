#!/usr/bin/env node
// Runs the agent: from its sources in the repository, which Node runs as they are, and from what they were built to in
// the installed package.
import { existsSync } from "node:fs";

const source = new URL("../../src/gateway/agent/process/main.ts", import.meta.url);
const built = new URL("../../dist/gateway/agent/process/main.js", import.meta.url);
const [major = 0] = process.versions.node.split(".").map(Number);

if (major >= 24) {
  await import((existsSync(source) ? source : built).href);
} else {
  const error = `The agent needs Node 24 or newer; \`node\` on the PATH is ${process.version}.`;
  process.stdout.write(`${JSON.stringify({ status: "error", error, retry: false })}\n`);
}
