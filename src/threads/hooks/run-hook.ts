// Runs the hooks of one place, one after another: each sees what the one before has made of the value. A hook that fails
// is passed over, because what it would have done is not worth the run.
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { HookCalls, HookDefinition, HookName } from "../definitions/hook.ts";
import type { Host } from "../host.ts";
import { shownError } from "../secrets/shown-error.ts";
import { secretsOf } from "../secrets/state-secrets.ts";
import type { ThreadState } from "../state/thread-state.ts";
import type { HookSet } from "./hook-set.ts";

type Dropping = "after_tool_call_success" | "after_tool_call_failure";
type Blocking = "prefilter_llm_history";

/** What a hook of that place is given after the state. */
type Received<Name extends HookName> =
  Parameters<HookCalls[Name]> extends [ThreadState, ...infer Rest extends unknown[]] ? Rest : never;

/** What it may change: the last that it is given. */
type Value<Name extends HookName> = Received<Name> extends [...unknown[], infer Last] ? Last : undefined;

/** `dropped`: the call and its result are to go. `blocked`: the model must not be asked; why, for people to read. */
export type HookOutcome<Name extends HookName> =
  | { readonly value: Value<Name> }
  | (Name extends Dropping ? { readonly dropped: true } : never)
  | (Name extends Blocking ? { readonly blocked: string } : never);

export type HookScope = {
  readonly host: Pick<Host, "report">;
  readonly state: ThreadState;
  /** True: what a hook throws is thrown on, and none runs after it. */
  readonly throws?: boolean;
};

/**
 * What the hooks of a place make of the last thing received; of a place where hooks only look on, that itself. A hook
 * that returns nothing keeps it. What one throws, returns in a wrong form or does not return in time is reported as
 * `hook_failed`, and the next one sees what it would have seen.
 */
export async function runHook<Name extends HookName>(
  set: HookSet,
  name: Name,
  scope: HookScope,
  ...received: Received<Name>
): Promise<HookOutcome<Name>> {
  const before = received.slice(0, -1);
  let value: unknown = received.at(-1);
  for (const hook of set.get(name) ?? []) {
    try {
      // A copy of its own, so that what it changes and then fails with is as if it had never been.
      const given = changes[name] ? [...before, structuredClone(value)] : received;
      const returned = await inTime(hook, () => hook.execute(scope.state, ...given));
      if (returned === null && canDrop(name)) return { dropped: true } as HookOutcome<Name>;
      const form = changes[name];
      if (form === null || returned === null || returned === undefined) continue;
      if (!form.holds(returned)) throw new Error(`It must return ${form.words}.`);
      value = returned;
    } catch (thrown) {
      if (name === "prefilter_llm_history" && blocks(thrown)) {
        return { blocked: secretsOf(scope.state).clean(errorMessage(thrown)) } as HookOutcome<Name>;
      }
      if (scope.throws) throw thrown;
      const detail = `The hook ${hook.id} (${name}) failed: ${errorMessage(thrown)}`;
      const failed = shownError(holdfastError("hook_failed", detail, thrown), secretsOf(scope.state));
      scope.host.report(failed, scope.state.threadId);
    }
  }
  return { value } as HookOutcome<Name>;
}

type Form = { readonly words: string; holds(value: unknown): boolean };

const text: Form = { words: "a text", holds: (value) => typeof value === "string" };
const list: Form = { words: "a list of maps", holds: (value) => Array.isArray(value) && value.every(isMap) };
const map: Form = { words: "a map", holds: isMap };

/** What hooks of each place return; null where they only look on. */
const changes: Readonly<Record<HookName, Form | null>> = {
  after_thread_created: null,
  after_subagent_created: null,
  after_system_message: text,
  filter_messages: list,
  prefilter_llm_history: list,
  before_create_message: map,
  after_create_message: null,
  before_update_message: map,
  after_update_message: null,
  before_store_tool_result: map,
  after_tool_call_success: map,
  after_tool_call_failure: map,
  tool_call_started: null,
  tool_call_done: null,
};

function canDrop(name: HookName): name is Dropping {
  return name === "after_tool_call_success" || name === "after_tool_call_failure";
}

function blocks(thrown: unknown): boolean {
  return isMap(thrown) && thrown.block === true;
}

/** How long a hook may take: a run waits for it. */
const LONGEST_MS = 30_000;

async function inTime(hook: HookDefinition, execute: () => unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${hook.id} took longer than ${LONGEST_MS / 1000} seconds.`)),
      LONGEST_MS,
    );
  });
  try {
    return await Promise.race([(async () => execute())(), late]);
  } finally {
    clearTimeout(timer);
  }
}
