// Seeing how far a workflow run is and asking it to stop, by callers with and without capabilities.

import { mayUseWorkflows } from "../../src/agents-api/workflows/workflow-permission.ts";
import {
  cancelWorkflowRun,
  getWorkflowRun,
  listWorkflowRunEvents,
} from "../../src/agents-api/workflows/workflow-runs.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { isOperationError, operationError } from "../../src/contracts/operation-error.ts";
import { newHost, type RunScript, runSpec, type Script, type Scripts } from "./workflow-runs.ts";

export type RunControlScript = {
  readonly calls: readonly { readonly do: string; readonly with?: unknown; readonly caps?: readonly string[] }[];
  readonly abilities?: Scripts;
  readonly handlers?: Readonly<Record<"status" | "cancel" | "events", Script | undefined>>;
};

export async function controlRuns({ calls, abilities = {}, handlers }: RunControlScript) {
  const { host, runs } = newHost({ abilities });
  const { hooks } = host;
  const taken: unknown[] = [];
  for (const { do: action, with: given, caps = [] } of calls) {
    const access = { isAdministrator: caps.includes("manage_options"), mayRead: caps.includes("read"), hooks };
    const watched = {
      ...{ runs, hooks },
      statusHandler: playing(handlers?.status),
      cancelHandler: playing(handlers?.cancel),
      eventsHandler: playing(handlers?.events),
      mayReadUnredacted: (input: JsonMap) => mayUseWorkflows("unredacted", input, access),
    };
    const answer = await act();
    taken.push(isOperationError(answer) ? { error: answer } : answer);

    async function act(): Promise<unknown> {
      switch (action) {
        case "run": {
          const { status, error } = await runSpec(given as RunScript, host, []);
          return { status, error };
        }
        case "get":
          return await getWorkflowRun(given, watched);
        case "cancel":
          return await cancelWorkflowRun(given, watched);
        case "events":
          return await listWorkflowRunEvents(given, watched);
        case "permissions":
          return {
            run: await mayUseWorkflows("run", {}, access),
            read: await mayUseWorkflows("read", {}, access),
            cancel: await mayUseWorkflows("cancel", {}, access),
          };
        default:
          throw new Error(`There is no call "${action}".`);
      }
    }
  }
  return taken;
}

function playing(script: Script | undefined) {
  if (!script) return undefined;
  const { result, error } = script;
  return () => (error ? operationError(error.code, error.message) : result);
}
