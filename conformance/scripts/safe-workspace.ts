// The steps of the sequences over safe workspaces, on folders of their own.
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import { createSafeWorkspace } from "../../src/trust/safe-workspace.ts";

type Call = { readonly do: string; readonly with?: UnknownMap };

export async function runSafeWorkspace({ enabled, calls }: { enabled: boolean; calls: readonly Call[] }) {
  const base = await mkdtemp(join(tmpdir(), "holdfast-conformance-"));
  const [root, outside] = [join(base, "root"), join(base, "outside")];
  for (const folder of [root, outside]) await mkdir(folder);
  const workspace = createSafeWorkspace({ enabled, root });

  async function take({ do: verb, with: given = {} }: Call): Promise<unknown> {
    switch (verb) {
      case "prepare":
        return await workspace.prepare(given);
      case "list":
        return await workspace.list();
      case "read":
        return await workspace.read(given);
      case "write":
        return await workspace.write(given);
      case "symlink":
        return await symlink(outside, join(root, String(given.handle), String(given.path)));
      default:
        throw new Error(`Nobody knows how to ${verb}.`);
    }
  }

  try {
    const results: unknown[] = [];
    for (const call of calls) {
      const answer = await take(call);
      results.push(isOperationError(answer) ? { error: { code: answer.code } } : (answer ?? null));
    }
    return results;
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}
