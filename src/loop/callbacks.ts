// The caller's side of the machine: carries out its orders and puts its questions to the callbacks that were given.
import { createAbilityExecutor, namesAbility } from "../contracts/abilities/executor.ts";
import { cancellationMessage } from "../contracts/conversation/chat-run-control.ts";
import { emptyMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { guardCapabilities } from "../contracts/tools/capability-guard.ts";
import { chatExecutor } from "../contracts/tools/chat-executor.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";
import type { ToolExecutor } from "../contracts/tools/execution.ts";
import * as execution from "../contracts/tools/execution.ts";
import * as runtimeToolLifecycle from "../contracts/tools/runtime-tool-lifecycle.ts";
import { stageAction } from "../contracts/trust/stage-action.ts";
import { quietly, whenReady } from "../contracts/when-ready.ts";
import type { ConfiguredRun } from "./configure.ts";
import type { EffectOrder, Question } from "./next.ts";
import type { RunOptions, TurnRunner } from "./options.ts";
import { callPolicy, visibleTools } from "./policies.ts";
import { runProviderTurn } from "./provider-runner.ts";

type TurnOptions = Parameters<TurnRunner>[2];

export type Callbacks = {
  perform(order: EffectOrder): unknown;
  answer(question: Question): unknown;
};

export function callbacks(run: ConfiguredRun, turnRunner: TurnRunner | null, options: RunOptions): Callbacks {
  const { hooks, signal } = options;
  const withSignal = Object.freeze(signal ? { signal } : {});
  const executors = toolExecutors(options, run.config.tools);
  let turnOptions: TurnOptions | undefined;

  function perform(order: EffectOrder): unknown {
    switch (order.kind) {
      case "call_model":
        if (options.providerTurnAdapter) return runProviderTurn(options.providerTurnAdapter, order, run, options);
        return turnRunner?.(order.messages, order.context, optionsFor(order));
      case "summarize":
        return summarize(order);
      case "archive":
        return options.overflowArchive?.(order.items, order.details);
      case "run_tool":
        return runTool(order);
      case "store_request":
        if (!options.runtimeToolStore) return undefined;
        return runtimeToolLifecycle.createPendingRequest(options.runtimeToolStore, order.request, order.context, hooks);
      case "store_action":
        return stageAction(
          order.action,
          { hooks, pendingActionStore: options.pendingActionStore },
          order.context,
          signal,
        );
      default:
        return order satisfies never;
    }
  }

  function summarize({ messages, context, maxOutputTokens }: Extract<EffectOrder, { kind: "summarize" }>): unknown {
    if (maxOutputTokens === undefined) return options.summarizer?.(messages, context);
    return options.summarizer?.(messages, context, { maxOutputTokens });
  }

  /** The tools seldom change from turn to turn, and then neither does what a runner is told beside the messages. */
  function optionsFor({ tools, maxOutputTokens }: Extract<EffectOrder, { kind: "call_model" }>): TurnOptions {
    if (maxOutputTokens !== undefined) return Object.freeze({ ...withSignal, tools, maxOutputTokens });
    if (turnOptions?.tools !== tools) turnOptions = Object.freeze({ ...withSignal, tools });
    return turnOptions;
  }

  function runTool({ call, declaration, context }: Extract<EffectOrder, { kind: "run_tool" }>): unknown {
    const target = execution.executorTarget(declaration);
    const executor = target === undefined ? executors.execute : executors.named[target];
    // A run may be taken up again where nobody runs tools: that is a failure, not an empty answer.
    if (!executor) throw new Error(`Nobody runs the tool '${call.tool_name}' here.`);
    return executor(call, declaration, context, withSignal);
  }

  function answer(question: Question): unknown {
    switch (question.hook) {
      case "cancellation":
        return askWhetherCancelled();
      case "inbox":
      case "funds":
      case "output":
      case "cast":
      case "frame":
        // Threads answer these. A conversation in memory has none, and the machine does not ask.
        return undefined;
      case "visible_tools":
        return visibleTools(run.config.tools, question.context, options);
      case "action_policy":
        return callPolicy(question.context, run.config.tools, options);
      case "audit_parameters": {
        const { redacted, raw, tool_name, declaration, context } = question;
        return hooks?.apply("toolAuditParameters", redacted, raw, tool_name, declaration, context);
      }
      case "mediator":
        return options.preToolMediator?.(question.context);
      case "decision_filter":
        return filterDecision(question);
      case "diagnostics":
        return diagnose(question.about);
      case "completion":
        return options.completionPolicy?.(question.context);
      case "interrupt":
        return options.interruptSource?.(run.request, question.context);
      case "should_continue":
        return options.shouldContinue?.(question.result, question.context);
      default:
        return question satisfies never;
    }
  }

  /** Nothing is answered when the filters leave the decision alone, so that it is not read a second time. */
  function filterDecision({ decision, context }: Extract<Question, { hook: "decision_filter" }>): unknown {
    if (!hooks) return undefined;
    return whenReady(hooks.apply("preToolCallDecision", decision, context), (filtered) =>
      filtered === decision ? undefined : filtered,
    );
  }

  function askWhetherCancelled(): unknown {
    return whenReady(options.runControl?.get(run.runId), (record) => record && cancellationMessage(record));
  }

  /** Diagnostics are a courtesy: a callback that fails has none to give. */
  function diagnose(about: UnknownMap): unknown {
    return whenReady(
      quietly(() => options.postToolResultDiagnostics?.(about)),
      (own) => {
        const given = readable(own);
        return hooks?.has("toolResultDiagnostics") ? hooks.apply("toolResultDiagnostics", given, about) : given;
      },
    );
  }

  return { perform, answer };
}

/** Every executor runs only what the principal has the required capability for; abilities look after that themselves. */
function toolExecutors(
  options: RunOptions,
  tools: ToolMap,
): { execute?: ToolExecutor; named: Readonly<Record<string, ToolExecutor>> } {
  const { authorize, hooks, holdsCapability } = options;
  const isGuarded = Object.values(tools).some((tool) => tool.required_capability !== undefined);
  const guard = (executor: ToolExecutor) =>
    isGuarded ? guardCapabilities(executor, { authorize, hooks, holdsCapability }) : executor;
  const named = Object.entries(options.namedToolExecutors ?? {}).flatMap(([target, executor]) =>
    typeof executor === "function" ? [[target, guard(executor)] as const] : [],
  );
  const own = options.toolExecutor && guard(options.toolExecutor);
  const execute = options.abilities ? withAbilities(options, own) : own;
  return { ...(execute && { execute }), named: Object.fromEntries(named) };
}

/** Abilities run the tools that name one; without another executor, all that are not the client's. */
function withAbilities(options: RunOptions, own: ToolExecutor | undefined): ToolExecutor {
  const { abilities, authorize, hooks, holdsCapability, pendingActionStore } = options;
  const asAbility = createAbilityExecutor({ abilities, authorize, hooks, holdsCapability, pendingActionStore });
  if (!own) return chatExecutor(asAbility);
  return (call, declaration, ...rest) => (namesAbility(declaration) ? asAbility : own)(call, declaration, ...rest);
}

/** The callback's own map, or none when it gave something else. */
function readable(own: unknown): JsonMap {
  try {
    return snapshotMap(own);
  } catch {
    return emptyMap;
  }
}
