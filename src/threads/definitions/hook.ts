// A hook: code of the author that runs at a place of the runtime. It runs only where a prompt or an agent lists its id.
import { createBrand } from "../../contracts/brand.ts";
import { trimmed } from "../../contracts/coerce.ts";
import { isMap, type JsonMap, type UnknownMap } from "../../contracts/json.ts";
import { isStandardName } from "../../contracts/standard/names.ts";
import type { StandardMessage, StandardToolCall } from "../../contracts/standard/standard-message.ts";
import type { AttachmentInput, ThreadState, ToolOutcomeView } from "../state/thread-state.ts";
import { invalidDefinition } from "./invalid-definition.ts";

type Ready<Value> = Value | Promise<Value>;

/** What keeps the value as it was. */
type Same = null | undefined;

/** What came of a call, as hooks see it and may change it. */
export type HookToolResult = ToolOutcomeView & { readonly attachments?: readonly AttachmentInput[] };

type MessageUpdates = { readonly content?: string; readonly metadata?: JsonMap };

/** Every place with what a hook is given there and what it may return. */
export type HookCalls = {
  readonly after_thread_created: (state: ThreadState) => unknown;
  readonly after_subagent_created: (state: ThreadState, child: ThreadState) => unknown;
  readonly after_system_message: (state: ThreadState, text: string) => Ready<string | Same>;
  readonly filter_messages: (
    state: ThreadState,
    messages: readonly StandardMessage[],
  ) => Ready<readonly StandardMessage[] | Same>;
  /** Of the messages as they are sent. An error with `block: true` that it throws stops the run before the model is asked. */
  readonly prefilter_llm_history: (
    state: ThreadState,
    messages: readonly JsonMap[],
  ) => Ready<readonly JsonMap[] | Same>;
  readonly before_create_message: (state: ThreadState, message: StandardMessage) => Ready<StandardMessage | Same>;
  readonly after_create_message: (state: ThreadState, message: StandardMessage) => unknown;
  readonly before_update_message: (
    state: ThreadState,
    id: string,
    updates: MessageUpdates,
  ) => Ready<MessageUpdates | Same>;
  readonly after_update_message: (state: ThreadState, message: StandardMessage) => unknown;
  readonly before_store_tool_result: (
    state: ThreadState,
    call: StandardToolCall,
    result: HookToolResult,
  ) => Ready<HookToolResult | Same>;
  /** Null drops the call and its result. */
  readonly after_tool_call_success: (
    state: ThreadState,
    call: StandardToolCall,
    result: HookToolResult,
  ) => Ready<HookToolResult | Same>;
  /** Null drops the call and its result. */
  readonly after_tool_call_failure: (
    state: ThreadState,
    call: StandardToolCall,
    result: HookToolResult,
  ) => Ready<HookToolResult | Same>;
  readonly tool_call_started: (state: ThreadState, call: StandardToolCall, progress?: string) => unknown;
  readonly tool_call_done: (state: ThreadState, call: StandardToolCall, result: HookToolResult) => unknown;
};

export type HookName = keyof HookCalls;

/** A hook, ready to be listed. */
export type HookDefinition = {
  readonly id: string;
  readonly hook: HookName;
  /** Called with the thread's state and what belongs to its place. */
  readonly execute: (state: ThreadState, ...received: readonly unknown[]) => unknown;
};

const hooks = createBrand();

/** True for what `hook` has made. */
export function isHook(value: unknown): value is HookDefinition {
  return isMap(value) && hooks.has(value);
}

/** Defines a hook. Throws `invalid_definition` with the field that is wrong. */
export function hook<Name extends HookName>(definition: {
  /** Small letters, digits and underscores: what prompts and agents list. */
  readonly id: string;
  readonly hook: Name;
  readonly execute: HookCalls[Name];
}): HookDefinition {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const id = trimmed(given.id);
  const invalid = (detail: string) => invalidDefinition("hook", id, detail);
  if (id === undefined || !isStandardName(id)) throw invalid("id must be small letters, digits and underscores");
  if (!isHookName(given.hook)) throw invalid(`hook must be one of ${names.join(", ")}`);
  if (typeof given.execute !== "function") throw invalid("execute must be a function");
  const stray = Object.keys(given).find((field) => !["id", "hook", "execute"].includes(field));
  if (stray !== undefined) throw invalid(`${stray} is no field of a hook`);
  const made: HookDefinition = { id, hook: given.hook, execute: definition.execute as HookDefinition["execute"] };
  hooks.mark(made);
  return Object.freeze(made);
}

const places = {
  after_thread_created: true,
  after_subagent_created: true,
  after_system_message: true,
  filter_messages: true,
  prefilter_llm_history: true,
  before_create_message: true,
  after_create_message: true,
  before_update_message: true,
  after_update_message: true,
  before_store_tool_result: true,
  after_tool_call_success: true,
  after_tool_call_failure: true,
  tool_call_started: true,
  tool_call_done: true,
} as const satisfies Record<HookName, true>;

const names = Object.keys(places);

function isHookName(value: unknown): value is HookName {
  return typeof value === "string" && Object.hasOwn(places, value);
}
