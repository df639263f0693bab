// Which test files start processes of their own, read off their imports: `npm run test:quick` leaves them out.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Every module that a file names, in an import or as the path of a program to run; and the world that takes a server. */
const NAMED = /"(node:child_process|\.{1,2}\/[\w./-]+\.ts)"|\b(postgresWorld)\b/g;

export function filesThatStartProcesses(patterns: readonly string[]): readonly string[] {
  const known = new Map<string, boolean>();
  return globSync(patterns).filter((file) => startsProcesses(file, known));
}

function startsProcesses(file: string, known: Map<string, boolean>): boolean {
  const before = known.get(file);
  if (before !== undefined) return before;
  known.set(file, false); // while its imports are read, which may lead back to it
  const named = [...readFileSync(file, "utf8").matchAll(NAMED)].map(([, module, world]) => module ?? world ?? "");
  const does =
    named.includes("node:child_process") ||
    named.includes("postgresWorld") ||
    named
      .filter((name) => name.startsWith("."))
      .map((name) => join(dirname(file), name))
      .some((path) => isPartOfTests(path) && existsSync(path) && startsProcesses(path, known));
  known.set(file, does);
  return does;
}

/** Starts PostgreSQL only for the tests that `npm run test:quick` skips. */
const SKIPS = "test/databases.ts";

/** The runtime itself may start processes that no test asks it for. The kit that crashes scenarios always does. */
function isPartOfTests(path: string): boolean {
  if (path === SKIPS) return false;
  return !path.startsWith("src/") || path.startsWith("src/testing/") || /\.(test|contract)\.ts$/.test(path);
}
