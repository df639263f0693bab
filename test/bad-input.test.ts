// Promise: whatever a caller, a model, a tool or a callback hands in, a run either refuses it with an error code or comes
// to a result that reads as one. Nothing hangs, nothing is polluted, nothing escapes without a code.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type Ability, createAbilities } from "../src/contracts/abilities/ability.ts";
import * as message from "../src/contracts/conversation/message.ts";
import * as request from "../src/contracts/conversation/request.ts";
import * as result from "../src/contracts/conversation/result.ts";
import { HoldfastError } from "../src/contracts/error.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import { type FilterName, gates } from "../src/contracts/seams.ts";
import * as toolDeclaration from "../src/contracts/tools/declaration.ts";
import * as toolResult from "../src/contracts/tools/result.ts";
import { createMemoryPendingActionStore } from "../src/contracts/trust/pending-action-store.ts";
import type { RunOptions, TurnRunner } from "../src/loop/options.ts";
import { runConversation } from "../src/loop/run-conversation.ts";
import { asStored } from "./log-driver.ts";

afterEach(() => {
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(([] as unknown as Record<string, unknown>).polluted).toBeUndefined();
});

const hello = [{ role: "user", content: "hello" }];
const says: TurnRunner = (messages) => ({ messages: [...messages, { role: "assistant", content: "hi" }] });
const declarations = { "ability/save": { name: "ability/save", source: "abilities", description: "Saves." } };

/** A run that calls one tool and then says that it is done. */
function callingOnce(options: object, parameters: unknown = {}): () => Promise<unknown> {
  const call = { id: "a", name: "ability/save", parameters };
  const answers: unknown[] = [{ tool_calls: [call] }, { content: "done", tool_calls: [] }];
  const given = { maxTurns: 2, toolDeclarations: declarations, toolExecutor: () => ({ ok: true }), ...options };
  return () => runConversation(hello, () => answers.shift(), given as RunOptions);
}

const told = (options: object) => () => runConversation([...hello, ...hello, ...hello], says, options as RunOptions);

/** Fails on what nobody could handle; a coded refusal or a whole result is fine. */
async function ends(given: string, act: () => unknown): Promise<unknown> {
  try {
    const returned = await act();
    if (isResult(returned)) expect(result.normalize(returned)).toEqual(returned);
    return returned;
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return thrown;
    throw new Error(`${given} escaped without a code`, { cause: thrown });
  }
}

function isResult(value: unknown): value is result.ConversationResult {
  return typeof value === "object" && value !== null && "schema" in value && value.schema === result.RESULT_SCHEMA;
}

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = wrap(undefined);
  for (let level = 1; level < levels; level++) value = wrap(value);
  return value;
}

const cycle: Record<string, unknown> = { role: "user", tool_name: "ability/save", action: "reject" };
cycle.self = cycle;
const listCycle: unknown[] = [];
listCycle.push(listCycle);
const returnsItself = {
  toJSON() {
    return this;
  },
};
class Account {
  role = "user";
  #balance = 1;
  get content() {
    return this.#balance;
  }
}
const polluting: unknown = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"role":"user","content":"x","tool_name":"t"}',
);

const nonsense: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "a bigint": 10n,
  "a bigint in a map": { role: "user", content: 10n, tool_name: "t", action: "reject", error: 1n },
  "a symbol": Symbol("nothing"),
  "a function": () => "nothing",
  text: "nothing",
  "an empty text": "",
  "a cycle": cycle,
  "a list that holds itself": listCycle,
  "maps nested 100,000 deep": nested(100_000, (inner) => ({ role: "user", action: "reject", content: inner })),
  "lists nested 100,000 deep": nested(100_000, (inner) => [inner]),
  "a date": new Date(0),
  "an invalid date": new Date(Number.NaN),
  "a map object": new Map([["role", "user"]]),
  "a set": new Set([1]),
  bytes: new Uint8Array(3),
  "a class instance": new Account(),
  "an error": new Error("nothing"),
  "a map without a prototype": Object.assign(Object.create(null), { role: "user", action: "reject", complete: true }),
  "keys that pollute": polluting,
  "a sparse list": Object.assign([], { 5: "last" }),
  "a list of 100,000": new Array(100_000).fill(0),
  "a toJSON that returns itself": returnsItself,
};

const refuses = (): never => {
  throw new Error("refused");
};
const getters = Object.fromEntries(
  ["role", "content", "name", "tool_name", "action", "complete", "summary", "messages", "success"].map((name) => [
    name,
    { enumerable: true, get: refuses },
  ]),
);
const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** Objects that fight back when they are looked at. */
const hostile: Readonly<Record<string, unknown>> = {
  "getters that throw": Object.defineProperties({}, getters),
  "a toJSON that throws": { toJSON: refuses },
  "a proxy that refuses": new Proxy({}, { get: refuses, has: refuses, ownKeys: refuses, getPrototypeOf: refuses }),
  "a revoked proxy": revoked.proxy,
  "an error with an odd name": Object.assign(new Error("odd"), { name: 42, code: {} }),
  "an error whose name throws": Object.defineProperty(new Error("odd"), "name", { get: refuses }),
  "an error whose code throws": Object.defineProperty(new Error("odd"), "code", { get: refuses }),
};

const values = Object.entries(nonsense);

const compacting = { compactionPolicy: { enabled: true, max_messages: 1, recent_messages: 1 } };

/** Where a value can come in. */
const places: Readonly<Record<string, (value: unknown) => () => unknown>> = {
  "the messages": (value) => () => runConversation(value, says),
  "a message": (value) => () => runConversation([value], says),
  "the content of a message": (content) => () => runConversation([{ role: "user", content }], says),
  "the metadata of a message": (metadata) => () => runConversation([{ role: "user", content: "x", metadata }], says),
  "the answer of a runner": (value) => () => runConversation(hello, () => value),
  "the parts of a runner's answer": (value) => () =>
    runConversation(hello, (messages) => ({ messages, content: value, usage: value, metadata: value, events: value })),
  "the transcript of a runner's answer": (value) => () => runConversation(hello, () => ({ messages: [value] })),
  "the failure a runner reports": (failure) => () => runConversation(hello, () => ({ failure })),
  "a continuation message": (value) => () =>
    runConversation(hello, () => ({ tool_calls: [], continuation_messages: [value] }), {
      toolDeclarations: declarations,
      toolExecutor: () => 1,
    }),
  "a tool call": (value) => () =>
    runConversation(hello, () => ({ tool_calls: [value], provider_diagnostics: value, structured_output: value }), {
      toolDeclarations: declarations,
      toolExecutor: () => 1,
    }),
  "the parameters of a tool call": (value) => callingOnce({}, value),
  "the answer of a tool": (value) => callingOnce({ toolExecutor: () => value }),
  "the parts of a tool's answer": (value) =>
    callingOnce({
      toolExecutor: () => ({ success: value, result: value, error: value, metadata: value, runtime: value }),
    }),
  "the request of a tool that waits": (value) =>
    callingOnce({
      toolExecutor: () => ({ success: false, status: "runtime_tool_pending", runtime_tool_request: value }),
    }),
  "the approval that a tool asks for": (value) =>
    callingOnce({
      toolExecutor: () => ({ type: "approval_required", version: 1, content: value, payload: value, role: value }),
    }),
  "the decision of a mediator": (value) => callingOnce({ preToolMediator: () => value }),
  "the rejection of a mediator": (value) =>
    callingOnce({
      preToolMediator: () => ({ action: "reject", error: value, result: value, metadata: value, complete: value }),
    }),
  "the replacement of a mediator": (value) =>
    callingOnce({ preToolMediator: () => ({ action: "replace_result", result: value }) }),
  "the wait of a mediator": (value) =>
    callingOnce({ preToolMediator: () => ({ action: "pending", request: value, runtime: value, metadata: value }) }),
  "the diagnostics of a result": (value) => callingOnce({ postToolResultDiagnostics: () => value }),
  "the decision of a completion policy": (value) => callingOnce({ completionPolicy: () => value }),
  "the parts of a completion decision": (value) =>
    callingOnce({ completionPolicy: () => ({ complete: value, message: value, context: value }) }),
  "an interrupt": (value) => callingOnce({ interruptSource: () => value }),
  "the answer of a continuation policy": (value) => callingOnce({ shouldContinue: () => value }),
  "a summary": (value) => told({ ...compacting, summarizer: () => value }),
  "the parts of a summary": (value) =>
    told({ ...compacting, summarizer: () => ({ summary: value, archived_items: value }) }),
  "what an observer returns": (value) => callingOnce({ onEvent: () => value }),
  "what a persister returns": (value) => callingOnce({ transcriptPersister: () => value }),
  "the token of a lock": (value) =>
    told({ sessionId: "s", transcriptLock: { acquire: () => value, release: () => value } }),
  "what run control returns": (value) =>
    told({ sessionId: "s", runId: "r", runControl: { start: () => value, get: () => value, finish: () => value } }),
  "what a runtime tool store returns": (value) =>
    callingOnce({
      toolExecutor: () => ({ success: false, status: "runtime_tool_pending" }),
      runtimeToolStore: new Proxy({}, { get: () => () => value }),
    }),
  "the answer of a provider adapter": (value) => () =>
    runConversation(hello, null, { providerTurnAdapter: () => value }),
  "the parts of a provider's answer": (value) => () =>
    runConversation(hello, null, {
      providerTurnAdapter: () => ({ content: value, message: value, tool_calls: value, usage: value }),
    }),
  ...everyFilter("the value of the filter", (value) => value),
  ...everyFilter("the parts of the value of the filter", (value) => ({ action: "reject", result: value, x: value })),
};

describe("a value that makes no sense is refused with a code or made sense of", () => {
  it.each(Object.keys(places))("as %s", async (place) => {
    for (const [name, value] of values) {
      await ends(name, places[place]?.(value) ?? expect.fail);
    }
  });
});

function everyFilter(title: string, answer: (value: unknown) => unknown) {
  const names: FilterName[] = ["toolAuditParameters", "preToolCallDecision", "toolResultDiagnostics"];
  return Object.fromEntries(
    names.map((name) => [
      `${title} ${name}`,
      (value: unknown) => {
        const hooks = createHooks();
        hooks.filter(name, () => answer(value));
        return callingOnce({ hooks });
      },
    ]),
  );
}

describe("an option that makes no sense is refused with a code or left out", () => {
  const options = [
    "maxTurns",
    "context",
    "budgets",
    "shouldContinue",
    "compactionPolicy",
    "summarizer",
    "toolExecutor",
    "namedToolExecutors",
    "toolDeclarations",
    "toolCallRules",
    "preToolMediator",
    "postToolResultDiagnostics",
    "completionPolicy",
    "spinDetector",
    "identicalFailureTracker",
    "toolResultTruncator",
    "runtimeToolStore",
    "interruptSource",
    "transcriptPersister",
    "sessionId",
    "runId",
    "providerTurnAdapter",
    "onProviderDelta",
    "structuredOutput",
    "model",
    "runtime",
    "metadata",
    "principal",
    "workspace",
    "runtimeOverrides",
    "onEvent",
    "abilities",
    "authorize",
    "holdsCapability",
    "toolPolicy",
    "toolPolicyProviders",
    "toolAccessChecker",
    "hidesWriteTools",
    "actionPolicy",
    "actionPolicyProviders",
    "approvalMemory",
    "pendingActionStore",
    "newId",
  ] as const satisfies (keyof RunOptions)[];

  it.each(options)("%s", async (option) => {
    for (const [name, value] of values) {
      for (const given of [value, [value], { entry: value, threshold: value, max_bytes: value }]) {
        await ends(name, callingOnce({ [option]: given }));
      }
    }
  });
});

/** Who can fail. */
const fails: Readonly<Record<string, (fail: () => unknown) => () => unknown>> = {
  "the runner": (fail) => () => runConversation(hello, fail),
  "the provider adapter": (fail) => () => runConversation(hello, null, { providerTurnAdapter: fail }),
  "a tool": (fail) => callingOnce({ toolExecutor: fail }),
  "a named tool": (fail) =>
    callingOnce({
      toolDeclarations: { "ability/save": { ...declarations["ability/save"], runtime: { executor_target: "x" } } },
      namedToolExecutors: { x: fail },
    }),
  "the mediator": (fail) => callingOnce({ preToolMediator: fail }),
  "the diagnostics": (fail) => callingOnce({ postToolResultDiagnostics: fail }),
  "the completion policy": (fail) => callingOnce({ completionPolicy: fail }),
  "the interrupt source": (fail) => callingOnce({ interruptSource: fail }),
  "the continuation policy": (fail) => callingOnce({ shouldContinue: fail }),
  "the summarizer": (fail) => told({ ...compacting, summarizer: fail }),
  "an observer": (fail) => callingOnce({ onEvent: fail }),
  "the persister": (fail) => callingOnce({ transcriptPersister: fail }),
  "the lock when it is acquired": (fail) => told(locked({ acquire: fail })),
  "the lock when it is released": (fail) => told(locked({ release: fail })),
  "run control when a run starts": (fail) => told(controlled({ start: fail })),
  "run control while a run goes on": (fail) => told(controlled({ get: fail, finish: fail })),
  "a filter": (fail) => {
    const hooks = createHooks();
    hooks.filter("toolAuditParameters", fail);
    hooks.filter("preToolCallDecision", fail);
    hooks.filter("toolResultDiagnostics", fail);
    return callingOnce({ hooks });
  },
  "a tool policy provider": (fail) => callingOnce({ toolPolicyProviders: [fail] }),
  "the access checker": (fail) => callingOnce({ toolAccessChecker: fail }),
  "an action policy provider": (fail) => callingOnce({ actionPolicyProviders: [fail] }),
  "the approval memory": (fail) =>
    callingOnce({
      approvalMemory: { recall: fail, remember: fail, forget: fail },
      workspace: { workspace_type: "site", workspace_id: "1" },
      principal: { acting_user_id: 5, effective_agent_id: "a" },
    }),
  "a store of pending actions": (fail) =>
    callingOnce({
      actionPolicyProviders: [() => "preview"],
      pendingActionStore: { ...createMemoryPendingActionStore({ now: () => new Date(0) }), get: fail, store: fail },
    }),
  "an ability": (fail) => callingOnce({ abilities: abilities({ execute: fail }), toolExecutor: undefined }),
  "the permission of an ability": (fail) =>
    callingOnce({ abilities: abilities({ permission: fail, execute: fail }), toolExecutor: undefined }),
  "who knows capabilities": (fail) =>
    callingOnce({
      toolDeclarations: { "ability/save": { ...declarations["ability/save"], required_capability: "save" } },
      principal: { acting_user_id: 5 },
      holdsCapability: fail as never,
    }),
  "a gate": (fail) => {
    const hooks = createHooks();
    for (const name of gates) hooks.filter(name, fail);
    return callingOnce({ hooks, abilities: abilities({ execute: () => 1 }), hidesWriteTools: true });
  },
  "a runtime tool store": (fail) =>
    callingOnce({
      toolExecutor: () => ({ success: false, status: "runtime_tool_pending" }),
      runtimeToolStore: { create: fail, get: fail, complete: fail, timeout: fail, recentPending: fail },
    }),
};

function abilities(ability: Partial<Ability>) {
  return createAbilities([{ name: "ability/save", execute: () => 1, ...ability }]);
}

describe("a callback that fails, in whatever way", () => {
  /** Everything that throws, by what it throws; an error may be odd in every part. */
  const thrown = { ...nonsense, "an error without words": new Error(""), "an error with a code": coded(503) };

  it.each(Object.keys(fails))("ends the run in order: %s", async (callback) => {
    for (const [name, value] of Object.entries(thrown)) {
      for (const fail of waysToFail(value))
        expect(await ends(name, fails[callback]?.(fail) ?? expect.fail)).toSatisfy(isResult);
    }
  });
});

function waysToFail(value: unknown): (() => unknown)[] {
  return [
    () => {
      throw value;
    },
    () => Promise.reject(value),
    // biome-ignore lint/suspicious/noThenProperty: a promise of somebody else's making
    () => ({ then: (_: unknown, reject: (reason: unknown) => void) => reject(value) }),
  ];
}

function coded(code: unknown): Error {
  return Object.assign(new Error("odd"), { code });
}

function locked(lock: object) {
  return { sessionId: "s", transcriptLock: { acquire: () => "token", release: () => undefined, ...lock } };
}

function controlled(control: object) {
  const runControl = { start: () => ({}), get: () => undefined, finish: () => undefined, ...control };
  return { sessionId: "s", runId: "r", runControl };
}

describe("an object that fights back when it is looked at", () => {
  it.each(Object.keys(places))("cannot break out of a run as %s", async (place) => {
    for (const [name, value] of Object.entries(hostile)) await ends(name, places[place]?.(value) ?? expect.fail);
  });

  it.each(Object.keys(fails))("cannot break out of a run when it is thrown by %s", async (callback) => {
    for (const [name, value] of Object.entries(hostile)) {
      for (const fail of waysToFail(value)) {
        expect(await ends(name, fails[callback]?.(fail) ?? expect.fail)).toSatisfy(isResult);
      }
    }
  });
});

describe("a callback that never settles", () => {
  const never = new Promise(() => undefined);
  const hangs: Readonly<Record<string, (hang: () => unknown, signal: AbortSignal) => () => unknown>> = {
    "the runner": (hang, signal) => () => runConversation(hello, hang, { signal }),
    "the provider adapter": (providerTurnAdapter, signal) => () =>
      runConversation(hello, null, { providerTurnAdapter, signal }),
    "a tool": (toolExecutor, signal) => callingOnce({ toolExecutor, signal }),
    "the mediator": (preToolMediator, signal) => callingOnce({ preToolMediator, signal }),
    "the diagnostics": (postToolResultDiagnostics, signal) => callingOnce({ postToolResultDiagnostics, signal }),
    "the completion policy": (completionPolicy, signal) => callingOnce({ completionPolicy, signal }),
    "the interrupt source": (interruptSource, signal) => callingOnce({ interruptSource, signal }),
    "the continuation policy": (shouldContinue, signal) => callingOnce({ shouldContinue, signal }),
    "the summarizer": (summarizer, signal) => told({ ...compacting, summarizer, signal }),
    "the lock": (acquire, signal) => told({ ...locked({ acquire }), signal }),
    "run control when a run starts": (start, signal) => told({ ...controlled({ start }), signal }),
    "run control while a run goes on": (get, signal) => told({ ...controlled({ get }), signal }),
    "a filter": (filter, signal) => {
      const hooks = createHooks();
      hooks.filter("preToolCallDecision", filter);
      return callingOnce({ hooks, signal });
    },
  };

  it.each(Object.keys(hangs))("is let go when the caller aborts: %s", async (callback) => {
    const controller = new AbortController();
    const hang = () => {
      queueMicrotask(() => controller.abort());
      return never;
    };
    const ended = await ends(callback, hangs[callback]?.(hang, controller.signal) ?? expect.fail);
    expect(ended).toMatchObject({ status: "interrupted", completed: false });
  });

  it("cannot hold up a run as an observer, with no signal at all", async () => {
    const hooks = createHooks();
    hooks.on("loopEvent", () => never);
    expect(await callingOnce({ onEvent: () => never, hooks })()).toMatchObject({ completed: true });
  });
});

describe("size alone breaks nothing", () => {
  const large = "x".repeat(50_000_000);

  it("takes a message, an answer and a tool result of 50 MB", async () => {
    const ended = await runConversation([{ role: "user", content: large }], (messages) => ({
      messages: [...messages, { role: "assistant", content: large }],
    }));
    expect(ended.final_content?.length).toBe(large.length);
    expect(await callingOnce({ toolExecutor: () => large })()).toMatchObject({ completed: true, turn_count: 2 });
  });

  it("shortens a tool result of 50 MB to the limit that was set", async () => {
    const ended = await callingOnce({ toolExecutor: () => large, toolResultTruncator: { max_bytes: 100 } })();
    expect(JSON.stringify(ended).length).toBeLessThan(10_000);
  });

  it("takes a batch of ten thousand calls", async () => {
    let ran = 0;
    const tool_calls = Array.from({ length: 10_000 }, () => ({ name: "ability/save", parameters: {} }));
    const ended = await runConversation(hello, () => ({ tool_calls }), {
      toolDeclarations: declarations,
      toolExecutor: () => ran++,
    });
    expect(ran).toBe(10_000);
    expect(ended.tool_execution_results).toHaveLength(10_000);
  });
});

describe("keys that every object inherits", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("name no tool: %s", async (name) => {
    const tool_calls = [{ id: "a", name, parameters: {} }];
    const ended = await runConversation(hello, () => ({ tool_calls }), {
      toolDeclarations: declarations,
      toolExecutor: () => expect.fail("nothing to run"),
      budgets: [{ name: `tool_calls_${name}`, ceiling: 1 }],
    });
    expect(ended.tool_execution_results[0]?.result).toMatchObject({ metadata: { error_type: "tool_not_found" } });
  });

  it("pass through a run without touching any prototype", async () => {
    const ended = (await callingOnce(
      { toolExecutor: () => polluting, metadata: polluting, context: polluting },
      polluting,
    )()) as result.ConversationResult;
    expect(ended.completed).toBe(true);
    expect(JSON.stringify(ended)).not.toContain("__proto__");
    expect(Object.getPrototypeOf(ended.tool_execution_results[0]?.parameters)).toBe(Object.prototype);
  });
});

describe("a mediator or filter that answers nonsense", () => {
  const withoutSense = values.filter(([, value]) => (value as { action?: unknown } | null)?.action === undefined);

  it("lets the call proceed", async () => {
    for (const [name, value] of [...withoutSense, ["a cycle", cycle] as const]) {
      const hooks = createHooks();
      hooks.filter("preToolCallDecision", () => value);
      const ended = await callingOnce({ preToolMediator: () => value, hooks })();
      expect(ended, name).toMatchObject({ completed: true, tool_execution_results: [{ result: { success: true } }] });
    }
  });
});

describe("no contract throws anything without a code, whatever it is given", () => {
  const key = fc.oneof(
    fc.constantFrom("role", "content", "type", "version", "payload", "metadata", "schema", "id", "data"),
    fc.constantFrom(
      "name",
      "source",
      "description",
      "parameters",
      "executor",
      "scope",
      "runtime",
      "parameter_bindings",
    ),
    fc.constantFrom("parameter_defaults", "client_context_bindings", "required_capability", "provider_safe_name"),
    fc.constantFrom("messages", "tool_execution_results", "tool_audit_events", "tool_events", "run_outcome", "failure"),
    fc.constantFrom("status", "turn_count", "completed", "tool_name", "success", "error", "result", "error_type"),
    fc.constantFrom(
      "tools",
      "principal",
      "runtime_context",
      "max_turns",
      "workspace",
      "runtime_overrides",
      "tool_calls",
    ),
    fc.constantFrom("__proto__", "constructor", "toJSON", "citations", "required", "properties", "path"),
    fc.string({ maxLength: 4 }),
  );
  const word = fc.oneof(
    fc.constantFrom("user", "text", "tool_call", "client", "host", "run", "ability/save", "client/ask", "context.a"),
    fc.constantFrom(
      1,
      "1",
      true,
      null,
      "agents-api.message",
      result.RESULT_SCHEMA,
      "runtime_tool_pending",
      "sensitive",
    ),
  );
  const anything = fc.anything({
    key,
    values: [word, fc.integer(), fc.double(), fc.string(), fc.boolean(), fc.constantFrom(undefined, null, Number.NaN)],
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withNullPrototype: true,
    maxDepth: 4,
  });
  const someMap = fc.dictionary(key, anything, { maxKeys: 10 });
  const fuzzed = fc.oneof(anything, someMap, fc.array(someMap, { maxLength: 3 }));

  const contracts: Readonly<Record<string, (value: never) => unknown>> = {
    "message.normalize": message.normalize,
    "message.normalizeMany": message.normalizeMany,
    "toolDeclaration.validate": toolDeclaration.validate,
    "toolDeclaration.validateServer": toolDeclaration.validateServer,
    "toolDeclaration.normalize": toolDeclaration.normalize,
    "toolDeclaration.normalizeForServer": toolDeclaration.normalizeForServer,
    "toolDeclaration.normalizeForConversationRequest": toolDeclaration.normalizeForConversationRequest,
    "result.normalize": result.normalize,
    "toolResult.normalize": toolResult.normalize,
  };

  it.each(Object.keys(contracts))("%s", async (contract) => {
    await fc.assert(
      fc.asyncProperty(
        fuzzed,
        async (value) => void (await ends(contract, () => contracts[contract]?.(value as never))),
      ),
      { numRuns: 2_000 },
    );
  });

  it("request.normalize", async () => {
    const input = someMap.map((given) => ({ messages: [], tools: [], ...given }));
    await fc.assert(
      fc.asyncProperty(input, async (given) => void (await ends("a request", () => request.normalize(given)))),
      { numRuns: 2_000 },
    );
  });

  it("what is accepted once is accepted again and stays as it is", () => {
    const again = (normalize: (value: unknown) => unknown) => (value: unknown) => {
      const first = attempt(() => normalize(value));
      if (first !== undefined) expect(normalize(asStored(first))).toEqual(asStored(first));
    };
    for (const normalize of [message.normalize, result.normalize, toolResult.normalize]) {
      fc.assert(fc.property(fuzzed, again(normalize)), { numRuns: 1_000 });
    }
  });

  function attempt(normalize: () => unknown): unknown {
    try {
      return normalize();
    } catch {
      return undefined;
    }
  }
});
