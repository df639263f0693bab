// The steps of runtimeTool.abilities: the operations on runtime tool requests over stored rows.
import { cancel, get, list, submit, timeout } from "../../src/abilities/runtime-tools.ts";
import { isContainer, type UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import type { Continuation } from "../../src/contracts/tools/runtime-tool-lifecycle.ts";
import { createMemoryRuntimeToolStore } from "../../src/contracts/tools/runtime-tool-store.ts";

const abilities = { list, get, submit, timeout, cancel };

export type Script = {
  rows?: readonly UnknownMap[];
  no_store?: boolean;
  /** What the host's continuation returns, or something that is no continuation at all. */
  continuation?: unknown;
  steps: readonly { do: keyof typeof abilities; input?: unknown }[];
};

export async function runAbilities({ rows, no_store, continuation, steps }: Script) {
  const host = {
    store: no_store ? undefined : createMemoryRuntimeToolStore(rows),
    continuation: (isContainer(continuation) ? () => continuation : continuation) as Continuation | undefined,
  };
  const taken: unknown[] = [];
  for (const step of steps) {
    const answer = await abilities[step.do](step.input, host);
    taken.push(isOperationError(answer) ? { error: answer.code } : { value: answer });
  }
  return taken;
}
