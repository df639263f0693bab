#!/usr/bin/env node
// The entry point. In the repository it starts the TypeScript sources, which Node runs as they are; below node_modules
// Node refuses to, so the packed package has the same files compiled to JavaScript and no sources.
import { existsSync } from "node:fs";

const source = new URL("./main.ts", import.meta.url);
const [major = 0] = process.versions.node.split(".").map(Number);

if (!existsSync(source)) {
  await import("./main.js");
} else if (major >= 24) {
  await import(source.href);
} else {
  const error = `The fetch plugin needs Node 24 or newer; \`node\` on the PATH is ${process.version}.`;
  process.stdout.write(`${JSON.stringify({ status: "error", error, retry: false })}\n`);
}
