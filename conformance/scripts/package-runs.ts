// Runs of runtime packages over a fresh store, with scripted handlers. Two areas write them differently.
import { cancel, dispatch, events, get } from "../../src/abilities/package-runs.ts";
import { identifier } from "../../src/contracts/coerce.ts";
import { createMemoryRunStore } from "../../src/contracts/conversation/run-control.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import * as packageRun from "../../src/contracts/packages/package-run.ts";

/** What a handler answers; areas differ in the word for a plain answer. */
type Answer = { returns?: unknown; result?: unknown; error?: { code: string; message: string } };

const actions = { run: dispatch, get, cancel, events };

export async function runDispatch({ input, handler }: { input: JsonMap; handler?: Answer }) {
  const { host, failures } = newHost();
  const outcome = await dispatch(input, { ...host, handler: playing(handler) });
  const status = host.runs.get(identifier(input.run_id) ?? "")?.status;
  return { outcome: shown(outcome), run_status: status ?? null, dispatch_failed: failures };
}

export type ControlScript = {
  run?: unknown;
  unredacted?: boolean;
  status_handler?: Answer;
  cancel_handler?: Answer;
  events_handler?: Answer;
  steps: readonly { do: "get" | "cancel" | "events"; input?: unknown }[];
};

export async function runControlSteps(script: ControlScript) {
  const { host } = newHost();
  if (script.run !== undefined) host.runs.start(script.run);
  const taken: unknown[] = [];
  for (const step of script.steps) {
    const answer = await actions[step.do](step.input, {
      ...host,
      statusHandler: playing(script.status_handler),
      cancelHandler: playing(script.cancel_handler),
      eventsHandler: playing(script.events_handler),
      mayReadUnredacted: () => script.unredacted === true,
    });
    taken.push(shown(answer));
  }
  return taken;
}

export type SequenceScript = {
  calls: readonly { do: keyof typeof actions; with?: unknown; caps?: readonly string[] }[];
  handler?: Answer;
  run_status_handler?: Answer;
  run_cancel_handler?: Answer;
};

export async function runPackageSequence(script: SequenceScript) {
  const { host, failures } = newHost();
  const requests: unknown[] = [];
  const calls: unknown[] = [];
  for (const call of script.calls) {
    const answer = await actions[call.do](call.with, {
      ...host,
      handler: playing(script.handler, requests),
      statusHandler: playing(script.run_status_handler),
      cancelHandler: playing(script.run_cancel_handler),
      mayReadUnredacted: () => call.caps?.includes("manage_options") ?? false,
    });
    const told = failures.splice(0).map((reason) => ({ event: "agents_runtime_package_run_dispatch_failed", reason }));
    calls.push({ result: isOperationError(answer) ? { error: answer } : answer, events: told });
  }
  return { calls, requests };
}

/** A result of a package run and the same in the envelope of all runs. */
export function resultWithEnvelope(value: unknown) {
  return { result: packageRun.result(value), envelope: packageRun.resultEnvelope(value) };
}

function newHost() {
  const hooks = createHooks();
  const failures: string[] = [];
  hooks.on("runtimePackageRunDispatchFailed", (code) => failures.push(code));
  return { host: { runs: createMemoryRunStore({ now: () => new Date(0) }), hooks }, failures };
}

function playing(answer: Answer | undefined, requests: unknown[] = []) {
  if (answer === undefined) return undefined;
  return (request: JsonMap) => {
    requests.push(request);
    return answer.error ?? answer.returns ?? answer.result;
  };
}

function shown(answer: object) {
  return isOperationError(answer) ? { error: answer.code } : { value: answer };
}
