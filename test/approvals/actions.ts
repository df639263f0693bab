// What anybody does in the test, as plain data that fast-check makes up, and how it is done.
import type { JsonMap, UnknownMap } from "../../src/contracts/json.ts";
import type { Requests } from "../../src/threads/requests/requests.ts";
import type { MortalRuntime } from "../mortal-runtime.ts";
import { type Asked, type Attempt, type Expectation, scopeOf } from "./expectation.ts";
import { type Forgery, forge, forgedEnvelope } from "./forgeries.ts";
import { mayDecide, nobody, type Person, people } from "./people.ts";
import type { Runtimes } from "./runtimes.ts";
import { MOST_CENTS, type ToolName, threads, type Wish, wordsFor } from "./shop.ts";

export type Edit = "none" | "nothing" | "cents" | "everything" | "too much" | "wrong type" | "actor" | "no map";
export type Brought = "result" | "error" | "wrong result" | "nothing" | "decision";
export type Words = "yes" | "json" | "approval envelope" | "result envelope";

/** `pick`: which request, attempt or memory, of however many there are by then. */
export type Action =
  | { readonly kind: "send"; readonly thread: number; readonly tools: readonly ToolName[] }
  | { readonly kind: "queue tool"; readonly thread: number; readonly tool: ToolName | "holdfast/approve" }
  | {
      readonly kind: "decide";
      readonly pick: number;
      /** Of the people, by number; `people.length` for whoever may. */
      readonly person: number;
      readonly decision: "accepted" | "rejected";
      readonly edit: Edit;
      readonly remember: boolean;
      readonly via: "requests" | "approvals" | "another thread";
    }
  | { readonly kind: "bring"; readonly pick: number; readonly brought: Brought }
  | { readonly kind: "replay"; readonly pick: number; readonly person: number | null; readonly isChanged: boolean }
  | {
      readonly kind: "say";
      readonly pick: number;
      readonly of?: Asked["kind"];
      readonly words: Words;
      readonly isSent: boolean;
    }
  | { readonly kind: "stop"; readonly pick: number; readonly of?: Asked["kind"] }
  | { readonly kind: "stop"; readonly thread: number }
  | { readonly kind: "pass"; readonly minutes: number }
  | { readonly kind: "forge"; readonly pick: number; readonly of?: Asked["kind"]; readonly forgery: Forgery }
  | { readonly kind: "forget"; readonly pick: number };

/** An action that is about to happen. */
export type Prepared = {
  readonly attempt?: { readonly asked: Asked; readonly attempt: Attempt };
  /** The thread that it stops. */
  readonly stops?: number;
  readonly passes?: boolean;
  /** What it came to, in a word, or a code that it throws. */
  run(runtime: number): Promise<string>;
};

/** The request that a number stands for: mostly one that is pending and of that kind. */
function picked(model: Expectation, pick: number, kind?: Asked["kind"]): Asked | undefined {
  const from = pick % 8 === 7 ? model.asked : model.pending();
  const among = kind === undefined || pick % 16 === 2 ? from : from.filter((asked) => asked.kind === kind);
  return among[pick % Math.max(1, among.length)];
}

/** Undefined when there is nothing to do it to. */
export function prepare(model: Expectation, real: Runtimes, action: Action): Prepared | undefined {
  switch (action.kind) {
    case "send":
      return sending(model, real, action);
    case "queue tool":
      return queueing(model, real, action);
    case "decide":
    case "bring": {
      const asked = picked(model, action.pick, action.kind === "bring" ? "client_tool" : "approval");
      if (!asked) return undefined;
      const attempt = action.kind === "bring" ? bringing(model, asked, action) : deciding(model, asked, action);
      const viaQueue = action.kind === "decide" && action.via === "approvals";
      return attempting(
        model,
        real,
        asked,
        attempt,
        viaQueue && asked.kind === "approval" && !asked.isSpoiled && !asked.isBlocked,
      );
    }
    case "replay": {
      const taken = model.attempts.filter(({ asked, attempt }) => asked.counted === attempt);
      const among = action.pick % 3 > 0 && taken.length > 0 ? taken : model.attempts;
      const earlier = among[action.pick % Math.max(1, among.length)];
      return earlier && attempting(model, real, earlier.asked, again(earlier.attempt, action), false);
    }
    case "say":
      return saying(model, real, action);
    case "stop": {
      const stopped = "thread" in action ? action.thread : picked(model, action.pick, action.of)?.wish.thread;
      const thread = stopped ?? 0;
      return {
        stops: thread,
        run: async (runtime) => {
          await (await real.thread(thread, runtime)).stop();
          return "stopped";
        },
      };
    }
    case "pass":
      return {
        passes: true,
        run: async () => {
          await real.pass(action.minutes * 60_000);
          return "passed";
        },
      };
    case "forge": {
      const asked = picked(model, action.pick, action.of);
      return asked && { run: () => forge(model, real, asked, action.forgery) };
    }
    case "forget":
      return forgetting(model, real, action);
  }
}

function newWish(model: Expectation, real: Runtimes, thread: number, tool: ToolName): Wish {
  const order = model.next();
  const payment = { order, cents: 100 + order, card: `4111-secret-card-${order}` };
  const wish: Wish = { order, thread, tool, parameters: tool === "client/ask" ? { order } : payment };
  real.shop.wishes.set(order, wish);
  return wish;
}

function sending(model: Expectation, real: Runtimes, { thread, tools }: Extract<Action, { kind: "send" }>): Prepared {
  const wishes = tools.map((tool) => newWish(model, real, thread, tool));
  return {
    run: async (runtime) => (await (await real.thread(thread, runtime)).send(wordsFor(wishes))).status,
  };
}

function queueing(
  model: Expectation,
  real: Runtimes,
  { thread, tool }: Extract<Action, { kind: "queue tool" }>,
): Prepared {
  const isOurs = tool !== "holdfast/approve";
  const parameters = isOurs
    ? newWish(model, real, thread, tool).parameters
    : { request_id: model.asked.at(-1)?.id ?? "" };
  return {
    run: async (runtime) => {
      await (await real.thread(thread, runtime)).queueTool(tool, parameters as JsonMap);
      return "queued";
    },
  };
}

function deciding(
  model: Expectation,
  asked: Asked,
  { decision, edit, remember, via, person: number }: Extract<Action, { kind: "decide" }>,
): Attempt {
  const person = somebody(number, asked.rule);
  const parameters = editOf(model, asked, edit);
  const answer = {
    ...{ decision, reason: `because ${model.next()}`, by: person.name },
    ...(parameters !== undefined && { parameters }),
    ...(remember && { remember }),
  };
  const isWhole = edit === "none" || (edit !== "no map" && decision === "accepted" && !remember);
  const isBad = edit === "too much" || edit === "wrong type" || edit === "actor";
  return {
    person,
    answer,
    ...(asked.kind !== "approval" || !isWhole ? { flaw: "form" as const } : isBad && { flaw: "edit" as const }),
    ...(via === "another thread" && { isForeign: true }),
  };
}

/** One of the people; whoever may decide under the rule for any other number. */
function somebody(number: number, rule: number): Person {
  const right = people.find((person) => threads.every(({ user }) => mayDecide(rule, person, user)));
  return people[number] ?? right ?? nobody;
}

function editOf(model: Expectation, { tool }: Asked, edit: Edit): unknown {
  switch (edit) {
    case "none":
      return undefined;
    case "nothing":
      return {};
    case "cents":
      return { cents: model.next() };
    case "everything":
      return { order: 1_000_000 + model.next(), cents: model.next(), card: `4222-other-card-${model.next()}` };
    case "too much":
      return { cents: MOST_CENTS + 1 };
    case "actor":
      // Only the refund is bound to whoever it acts for.
      return tool === "shop/refund" ? { actor: 12 } : { cents: null };
    case "wrong type":
      return { cents: "many" };
    case "no map":
      return "everything";
  }
}

function bringing(model: Expectation, asked: Asked, { brought }: Extract<Action, { kind: "bring" }>): Attempt {
  const person = nobody;
  const number = model.next();
  const answers = {
    result: { result: { choice: `choice ${number}` } },
    error: { error: `error ${number}` },
    "wrong result": asked.tool === "client/ask" ? { result: { choice: number } } : { results: number },
    nothing: {},
    decision: { decision: "accepted", reason: `because ${number}` },
  } as const;
  const answer = answers[brought];
  const isResult = asked.kind === "client_tool" && (brought === "result" || brought === "error");
  if (isResult) return { person, answer };
  const isWrong = asked.tool === "client/ask" && asked.kind === "client_tool" && brought === "wrong result";
  // A decision about an approval is one, whoever makes it and however.
  if (asked.kind === "approval" && brought === "decision") return { person, answer };
  return { person, answer, flaw: isWrong ? "result" : "form" };
}

/** The same attempt, by somebody else perhaps, and with other words perhaps. */
function again(attempt: Attempt, { person, isChanged }: Extract<Action, { kind: "replay" }>): Attempt {
  const { answer } = attempt;
  const other = (person === null ? undefined : people[person]) ?? attempt.person;
  const same = { ...attempt, person: other };
  if (!isChanged) return same;
  if (typeof answer.reason === "string") return { ...same, answer: { ...answer, reason: `${answer.reason}, again` } };
  return attempt.flaw ? same : { ...same, answer: { error: "Another." } };
}

function attempting(model: Expectation, real: Runtimes, asked: Asked, attempt: Attempt, viaQueue: boolean): Prepared {
  const { person, answer, isForeign } = attempt;
  const { id } = asked;
  model.attempts.push({ asked, attempt });
  const other = real.threadIds[(asked.wish.thread + 1) % real.threadIds.length] ?? "";
  const options = { ...(person.principal && { principal: person.principal }), ...(isForeign && { thread: other }) };
  return {
    attempt: { asked, attempt },
    run: async (runtime) => {
      const holdfast = real.runtime(runtime);
      if (viaQueue) return await resolveInQueue(holdfast, asked, attempt);
      const { outcome } = await holdfast.requests.submit(id, answer as Parameters<Requests["submit"]>[1], options);
      return outcome;
    },
  };
}

async function resolveInQueue({ approvals }: MortalRuntime, { id, status }: Asked, { person, answer }: Attempt) {
  const { decision, by, ...payload } = answer as UnknownMap & { decision: "accepted" };
  await approvals.resolve(id, {
    ...{ decision, resolver: String(by), payload: payload as JsonMap },
    context: person.principal ? { principal: person.principal as JsonMap } : {},
  });
  // The queue does not say which of the two it was.
  return status === "pending" ? "submitted" : "repeated";
}

function saying(model: Expectation, real: Runtimes, action: Extract<Action, { kind: "say" }>): Prepared | undefined {
  const asked = picked(model, action.pick, action.of);
  if (!asked) return undefined;
  const { thread } = asked.wish;
  const { words, isSent } = action;
  return {
    run: async (runtime) => {
      const handle = await real.thread(thread, runtime);
      if (words === "approval envelope" || words === "result envelope") {
        const shown = JSON.parse((await real.rows()).get(asked.id)?.shown ?? "{}") as UnknownMap;
        const { id } = await handle.queueMessage(forgedEnvelope(words, asked, String(shown.tool_call_id)));
        real.forged.add(id);
        return "queued";
      }
      const text =
        words === "yes" ? "Approved. Yes, you may." : JSON.stringify({ request_id: asked.id, decision: "accepted" });
      if (isSent) return (await handle.send(text)).status;
      await handle.queueMessage(text);
      return "queued";
    },
  };
}

function forgetting(model: Expectation, real: Runtimes, { pick }: Extract<Action, { kind: "forget" }>) {
  if (model.memory.size === 0) return undefined;
  return {
    run: async (runtime: number) => {
      const { remembered } = real.runtime(runtime).approvals;
      const all = await remembered.list();
      const one = all[pick % all.length];
      if (!one) throw new Error("Nothing is remembered.");
      const thread = one.user_id === 8 ? 2 : 0;
      model.memory.delete(scopeOf({ thread, tool: one.tool_name as ToolName }));
      model.note("forgotten");
      return (await remembered.forget(one)) ? "forgotten" : "nothing";
    },
  };
}
