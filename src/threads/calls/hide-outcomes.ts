// What the host's own executors and deciders say about a call, without secrets: the tools that run here see to that
// themselves, because their hooks come first.
import { namesAbility } from "../../contracts/abilities/executor.ts";
import { isMap } from "../../contracts/json.ts";
import { executorTarget } from "../../contracts/tools/execution.ts";
import { whenReady } from "../../contracts/when-ready.ts";
import type { Callbacks } from "../../loop/callbacks.ts";
import type { EffectOrder, Question } from "../../loop/next.ts";
import { toolOf } from "../cast/cast.ts";
import type { ThreadRun } from "../thread-run.ts";
import { callSecrets } from "./call-secrets.ts";
import { shownReturn, shownThrow } from "./shown-outcome.ts";

export function hidingOutcomes(given: Callbacks, current: () => ThreadRun): Callbacks {
  return {
    perform: (order) => (isRunByHost(order) ? runByHost(given, current(), order) : given.perform(order)),
    answer(question) {
      if (!decides(question)) return given.answer(question);
      return whenReady(given.answer(question), (answer) => shownDecision(answer, current()));
    },
  };
}

type RunTool = Extract<EffectOrder, { kind: "run_tool" }>;

function isRunByHost(order: EffectOrder): order is RunTool {
  if (order.kind !== "run_tool") return false;
  return executorTarget(order.declaration) !== undefined || namesAbility(order.declaration);
}

async function runByHost({ perform }: Callbacks, run: ThreadRun, order: RunTool): Promise<unknown> {
  const { call, declaration } = order;
  run.secrets = callSecrets(run, call.parameters, declaration);
  const { secrets } = run;
  try {
    return shownReturn(await perform(order), secrets, toolOf(run.cast, declaration.name)?.secretOutput);
  } catch (thrown) {
    throw shownThrow(thrown, secrets);
  }
}

function decides({ hook }: Question): boolean {
  return hook === "mediator" || hook === "decision_filter";
}

/**
 * A result or an error that stands in for running the tool is shown like one of the tool's own. What was decided stays as
 * it is: nobody may change that by choosing a password.
 */
function shownDecision(answer: unknown, run: ThreadRun): unknown {
  const { call } = run.working;
  if (!isMap(answer) || !call) return answer;
  const prepared = call.prepared.ready ? call.prepared : undefined;
  run.secrets = callSecrets(run, prepared?.tool_call.parameters ?? call.parameters, prepared?.tool_def ?? {});
  // What waits for somebody outside is sealed, and has to be whole.
  if (answer.action === "pending") return answer;
  const told = ["result", "error", "metadata"].filter((field) => answer[field] !== undefined);
  const shown = told.map((field) => [field, shownReturn(answer[field], run.secrets)]);
  return { ...answer, ...Object.fromEntries(shown) };
}
