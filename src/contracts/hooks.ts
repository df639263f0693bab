// The one place where a host listens in or has a say. An event tells and ignores what it is told back; a filter may
// replace a value, and a replacement of the wrong shape is ignored. Neither can break a run.
import { isMap, type JsonMap, type UnknownMap } from "./json.ts";
import type { RuntimeToolRequest, RuntimeToolResult } from "./tools/runtime-tool.ts";
import { quietly, whenReady } from "./when-ready.ts";

/** What each event passes to its listeners. */
export type HookEvents = {
  loopEvent: [event: string, payload: JsonMap];
  runtimeToolRequestCreated: [request: RuntimeToolRequest, context: JsonMap];
  runtimeToolResultSubmitted: [request: RuntimeToolRequest, result: RuntimeToolResult, context: JsonMap];
  runtimeToolRequestTimedOut: [request: RuntimeToolRequest, result: RuntimeToolResult, context: JsonMap];
  runtimeToolRequestResumed: [
    request: RuntimeToolRequest,
    result: RuntimeToolResult,
    continued: JsonMap,
    context: JsonMap,
  ];
  providerTurnRetried: [retry: JsonMap];
};

/** The value each filter passes through, and what it is told beside it. */
export type HookFilters = {
  toolAuditParameters: {
    value: UnknownMap;
    about: [raw: JsonMap, toolName: string, declaration: UnknownMap | null, context: JsonMap];
  };
  preToolCallDecision: { value: UnknownMap; about: [context: UnknownMap] };
  toolResultDiagnostics: { value: UnknownMap; about: [context: UnknownMap] };
};

export type EventName = keyof HookEvents;
export type FilterName = keyof HookFilters;

/** The contract's own name of every seam, for those who know it by that name. */
export const contractNames: Readonly<Record<EventName | FilterName, string>> = {
  loopEvent: "agents_api_loop_event",
  runtimeToolRequestCreated: "agents_api_runtime_tool_request_created",
  runtimeToolResultSubmitted: "agents_api_runtime_tool_result_submitted",
  runtimeToolRequestTimedOut: "agents_api_runtime_tool_request_timed_out",
  runtimeToolRequestResumed: "agents_api_runtime_tool_request_resumed",
  providerTurnRetried: "agents_api_provider_turn_retry",
  toolAuditParameters: "agents_api_tool_audit_parameters",
  preToolCallDecision: "agents_api_pre_tool_call_decision",
  toolResultDiagnostics: "agents_api_mediated_tool_result_diagnostics",
};

export type Listener<Name extends EventName> = (...told: HookEvents[Name]) => unknown;
export type Filter<Name extends FilterName> = (
  value: HookFilters[Name]["value"],
  ...about: HookFilters[Name]["about"]
) => unknown;

export interface Hooks {
  /** Listens to an event; the function that is returned stops listening. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /** Adds a filter behind those already there; the function that is returned removes it. */
  filter<Name extends FilterName>(name: Name, filter: Filter<Name>): () => void;
  /** True when somebody listens to the event or filters the value. */
  has(name: EventName | FilterName): boolean;
  /** Tells every listener; what they throw, reject or return is dropped. */
  emit<Name extends EventName>(name: Name, ...told: HookEvents[Name]): void;
  /** Passes a value through the filters in order; one that throws or answers nonsense leaves it as it was. */
  apply<Name extends FilterName>(
    name: Name,
    value: HookFilters[Name]["value"],
    ...about: HookFilters[Name]["about"]
  ): HookFilters[Name]["value"] | Promise<HookFilters[Name]["value"]>;
}

type AnyFunction = (...given: never[]) => unknown;

/** An empty registry of hooks. */
export function createHooks(): Hooks {
  const registered = new Map<string, AnyFunction[]>();

  function register(name: string, hook: AnyFunction): () => void {
    // A function of its own for each registration, so that the same hook can be there twice. Lists are replaced, not
    // changed, so that a hook may remove itself while it is being called.
    const entry: AnyFunction = (...given) => hook(...given);
    registered.set(name, [...(registered.get(name) ?? []), entry]);
    return () => {
      const left = (registered.get(name) ?? []).filter((other) => other !== entry);
      if (left.length > 0) registered.set(name, left);
      else registered.delete(name);
    };
  }

  return {
    on: register,
    filter: register,
    has: (name) => registered.has(name),
    emit(name, ...told) {
      for (const listener of registered.get(name) ?? []) quietly(() => (listener as Listener<typeof name>)(...told));
    },
    apply(name, value, ...about) {
      type Value = typeof value;
      const filters = (registered.get(name) ?? []) as ((...given: unknown[]) => unknown)[];
      const pass = (current: Value, from: number): Value | Promise<Value> => {
        const filter = filters[from];
        if (!filter) return current;
        return whenReady(
          quietly(() => filter(current, ...about)),
          (answer) => pass(isMap(answer) ? answer : current, from + 1),
        );
      };
      return pass(value, 0);
    },
  };
}
