// The steps of runtimeTool.lifecycle, against a memory store that keeps a log and can be told to lose every race.
import { errorMessage } from "../../src/contracts/error.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { contractNames, type EventName } from "../../src/contracts/seams.ts";
import type { RuntimeToolRequest } from "../../src/contracts/tools/runtime-tool.ts";
import * as lifecycle from "../../src/contracts/tools/runtime-tool-lifecycle.ts";
import { createMemoryRuntimeToolStore, type RuntimeToolStore } from "../../src/contracts/tools/runtime-tool-store.ts";

export type Step = {
  do: "seed" | "create" | "submit" | "timeout" | "recent" | "lose_race";
  request?: UnknownMap;
  result?: UnknownMap;
  request_id?: string;
  query?: UnknownMap;
  continuation?: unknown;
  context?: UnknownMap;
};

export async function runLifecycle(steps: readonly Step[]) {
  const { store, log, seed, loseRaces, rows } = loggedStore();
  const { hooks, heard } = loggedHooks();
  const continuations: unknown[] = [];

  const continued = (answer: unknown): lifecycle.Continuation | undefined =>
    answer === undefined || answer === null
      ? undefined
      : (request, result, context) => {
          continuations.push({ request_id: request.request_id, success: result.success, context });
          return answer as UnknownMap;
        };

  function take(step: Step): unknown {
    const { continuation, context } = step;
    switch (step.do) {
      case "seed":
        return seed(step.request as RuntimeToolRequest);
      case "create":
        return lifecycle.createPendingRequest(store, step.request, context, hooks);
      case "submit":
        return lifecycle.submitResult(store, step.result, continued(continuation), context, hooks);
      case "timeout":
        return lifecycle.timeoutRequest(store, step.request_id, continued(continuation), context, hooks);
      case "recent":
        return lifecycle.recentPending(store, step.query);
      case "lose_race":
        return loseRaces();
    }
  }

  const taken: unknown[] = [];
  for (const step of steps) {
    try {
      taken.push({ value: await take(step) });
    } catch (error) {
      taken.push({ error: errorMessage(error) });
    }
  }
  return { steps: taken, hooks: heard, continuations, store_log: log, rows: await rows() };
}

function loggedStore() {
  const memory = createMemoryRuntimeToolStore();
  const log: string[][] = [];
  const ids: string[] = [];
  let losing = false;
  const store: RuntimeToolStore = {
    ...memory,
    create(request) {
      log.push(["create", request.request_id]);
      seed(request);
    },
    complete(requestId, result) {
      log.push(["transition", requestId, "runtime_tool_completed"]);
      return losing ? false : memory.complete(requestId, result);
    },
    timeout(requestId) {
      log.push(["transition", requestId, "runtime_tool_timeout"]);
      return losing ? false : memory.timeout(requestId);
    },
  };
  function seed(request: RuntimeToolRequest) {
    if (!ids.includes(request.request_id)) ids.push(request.request_id);
    memory.create(request);
    return "ok";
  }
  function loseRaces() {
    losing = true;
    return "ok";
  }
  return { store, log, seed, loseRaces, rows: () => Promise.all(ids.map(memory.get)) };
}

function loggedHooks() {
  const hooks = createHooks();
  const heard: string[] = [];
  for (const name of Object.keys(contractNames) as EventName[]) hooks.on(name, () => heard.push(contractNames[name]));
  return { hooks, heard };
}
