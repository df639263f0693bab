// What must hold after every step: the real thing has come to what the model says, and has applied nothing but that.
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { UnknownMap } from "../../src/contracts/json.ts";
import type { Prepared } from "./actions.ts";
import {
  type Asked,
  type Attempt,
  type Expectation,
  isAccepting,
  isLate,
  isPermitted,
  type Memory,
  parametersOf,
  predicted,
  scopeOf,
} from "./expectation.ts";
import { resolverOf } from "./people.ts";
import type { RequestRow, Runtimes } from "./runtimes.ts";
import { type ToolName, threads, type Wish } from "./shop.ts";

/** An action, what it had to come to if nothing else had happened, and what it came to. */
export type Told = { readonly prepared: Prepared; readonly expected: string | undefined; readonly outcome: string };

export type Step = {
  readonly told: readonly Told[];
  readonly before: ReadonlyMap<string, RequestRow>;
  /** What was remembered before. */
  readonly memory: Memory;
  /** The rule that was deployed while the actions happened. */
  readonly rule: number;
  /** Nothing else happened beside the one action, so that what it comes to is known. */
  readonly isExact: boolean;
};

/** Why a submit may be refused. */
const CODES: readonly string[] = [
  ...["request_not_found", "request_foreign", "request_answered", "request_expired", "request_cancelled"],
  ...["invalid_answer", "approval_forbidden", "approval_outdated", "secret_key_mismatch"],
];

export async function compare(model: Expectation, real: Runtimes, step: Step): Promise<void> {
  const rows = await real.rows();
  for (const each of step.told) compareAttempt(model, step, each);
  for (const asked of model.asked) {
    const row = rows.get(asked.id);
    if (!row) throw new Error(`Request ${asked.id} is gone.`);
    const passed = real.isPast(row.expires_at);
    const about = { row, step, stopped: isStopped(step, asked), passed, rule: real.rule };
    if (asked.isRevived) continue;
    if (asked.status !== "pending") expect(row, "what has ended does not change").toEqual(step.before.get(asked.id));
    else if (row.status === "pending") comparePending(asked, about);
    else end(model, asked, about);
  }
  for (const row of rows.values()) if (!step.before.has(row.id)) await discover(model, real, row, step);
  await compareApplied(model, real, step);
  await compareLists(model, real);
}

function isStopped({ told }: Step, { wish }: Asked): boolean {
  return told.some(({ prepared }) => prepared.stops === wish.thread);
}

/** What somebody is told who answers: what the model says, and with others about, nothing that is not allowed to him. */
function compareAttempt(model: Expectation, { isExact, rule }: Step, { prepared, expected, outcome }: Told): void {
  const { asked, attempt } = prepared.attempt ?? {};
  if (!asked || !attempt) return;
  model.note(outcome);
  if (!["submitted", "repeated", "lost"].includes(outcome)) expect(CODES).toContain(outcome);
  if (asked.isSpoiled) return;
  // Whoever must not answer is told the same whatever else happens.
  const isRefused = attempt.isForeign || attempt.flaw === "form" || !isPermitted(asked, attempt);
  if (isExact || (isRefused && outcome !== "lost")) {
    expect(outcome, `${attempt.person.name} answers ${JSON.stringify(attempt.answer)}`).toBe(expected);
  }
  if (outcome === "submitted") expect(isValid(asked, attempt, rule)).toBe(true);
}

function isValid(asked: Asked, attempt: Attempt, rule: number): boolean {
  return predicted({ ...asked, status: "pending" }, attempt, rule) === "submitted";
}

type About = {
  readonly row: RequestRow;
  readonly step: Step;
  /** Its thread was stopped. */
  readonly stopped: boolean;
  /** Its time is up. */
  readonly passed: boolean;
  /** The rule that is deployed by now. */
  readonly rule: number;
};

function comparePending({ id, isSpoiled }: Asked, { row, step, stopped, passed }: About): void {
  const taken = step.told.filter(
    ({ prepared, outcome }) => prepared.attempt?.asked.id === id && outcome === "submitted",
  );
  expect([taken.length, step.isExact && stopped, passed], "it is still pending").toEqual([0, false, false]);
  // Who was refused has changed nothing.
  if (!isSpoiled) expect(row).toMatchObject({ ...step.before.get(id), expires_at: row.expires_at });
}

/** A request that was pending before has ended: somebody must have had the right to end it so. */
function end(model: Expectation, asked: Asked, about: About): void {
  const { row, stopped, passed } = about;
  asked.status = row.status as Asked["status"];
  expect(["settled", "expired", "cancelled"]).toContain(row.status);
  model.note(row.status);
  if (asked.isSpoiled) remember(model, asked, storedAttempt(asked, about));
  else if (row.status === "expired") expect([passed, row.answer]).toEqual([true, null]);
  else if (row.status === "cancelled" && row.answer === null) expect(stopped).toBe(true);
  else decided(model, asked, about);
}

/** Somebody has answered in time. A stop that came with it has the last word about a call that has not begun. */
function decided(model: Expectation, asked: Asked, about: About): void {
  const { row, step, stopped, rule } = about;
  if (row.status === "cancelled") expect(stopped).toBe(true);
  const counted = countedAttempt(asked, about);
  asked.counted = counted;
  const takers = step.told.filter(
    ({ prepared, outcome }) => prepared.attempt?.asked === asked && outcome === "submitted",
  );
  const taken = takers.map(({ prepared }) => prepared.attempt?.attempt.answer);
  expect([[], counted === "outdated" ? [] : [counted.answer]], "what was taken").toContainEqual(taken);
  if (counted === "outdated") {
    model.note("outdated");
    return;
  }
  remember(model, asked, counted);
  if (asked.kind === "client_tool" || !isAccepting(counted) || row.status === "cancelled") return;
  // What was decided about the tool once and for all has the last word, and so have the rules of now.
  asked.applies = rule === asked.rule && !isRemembered(model.memory, "forbidden", asked.wish, rule);
  if (counted.answer.parameters !== undefined) model.note("edited");
}

/** The one attempt that the stored answer is: by somebody who was allowed to, in a form that is one. */
function countedAttempt(asked: Asked, about: About): Attempt | "outdated" {
  const { row, step } = about;
  const isTooLate = ({ attempt }: NonNullable<Prepared["attempt"]>) =>
    isLate(asked, attempt, step.rule) && predicted({ ...asked, status: "pending" }, attempt, step.rule) === OUTDATED;
  const isOutdated = row.answer?.includes("The rules under which") ?? false;
  if (isOutdated && attemptsAt(asked, step).some(isTooLate)) return "outdated";
  const counted = storedAttempt(asked, about);
  if (!counted) throw new Error(`Nobody gave the answer ${row.answer}.`);
  expect(isValid(asked, counted, step.rule), `${counted.person.name} may answer ${row.answer}`).toBe(true);
  return counted;
}

const OUTDATED = "approval_outdated";

function attemptsAt(asked: Asked, { told }: Step) {
  return told.flatMap(({ prepared }) => (prepared.attempt?.asked === asked ? [prepared.attempt] : []));
}

/** Whichever attempt the database has, if it has one of ours. */
function storedAttempt(asked: Asked, { row, step }: About): Attempt | undefined {
  const stored = JSON.parse(row.answer ?? "{}") as UnknownMap;
  return attemptsAt(asked, step)
    .map(({ attempt }) => attempt)
    .find(
      (attempt) =>
        isSame(stored, attempt) && (row.resolver ?? resolverOf(attempt.person)) === resolverOf(attempt.person),
    );
}

function isSame(stored: UnknownMap, { answer }: Attempt): boolean {
  return ["decision", "reason", "result", "error"].every((field) => isDeepStrictEqual(stored[field], answer[field]));
}

/** What is to be remembered is, with whichever answer was taken, and with no other. */
function remember(model: Expectation, { wish, kind, rule }: Asked, attempt: Attempt | undefined): void {
  if (attempt?.answer.remember !== true || kind !== "approval") return;
  model.memory.set(scopeOf(wish), { policy: isAccepting(attempt) ? "direct" : "forbidden", rule });
  model.note(`remembered ${attempt.answer.decision}`);
}

/** A request that was not there before: it has to be about something that somebody wished for, in that thread, once. */
async function discover(model: Expectation, real: Runtimes, row: RequestRow, step: Step): Promise<void> {
  const { parameters } = JSON.parse(row.shown) as { parameters: UnknownMap };
  const now = { step, rule: real.rule };
  expect(row.shown).not.toContain("secret-card");
  const call = `${row.thread_id} ${row.run} ${row.call}`;
  const approval = model.asked.find((asked) => asked.call === call);
  const wish = approval?.wish ?? real.shop.wishes.get(Number(parameters.order));
  expect(wish, `a wish for ${row.shown}`).toBeDefined();
  if (!wish) return;
  expect([real.threadIds[wish.thread], wish.tool]).toEqual([row.thread_id, row.tool_name]);
  const isAskedBefore = model.asked.some((asked) => asked.wish === wish && asked.kind === row.kind);
  expect(isAskedBefore, `order ${wish.order} is asked about twice`).toBe(false);
  const asked: Asked = {
    ...{ id: row.id, kind: row.kind as Asked["kind"], tool: row.tool_name as ToolName, wish, call },
    ...{ rule: real.rule, status: "pending", applies: false },
  };
  model.asked.push(asked);
  model.note(`asked for ${row.kind}`);
  if (row.status === "cancelled") {
    asked.status = "cancelled";
    expect([isStopped(step, asked), row.answer]).toEqual([true, null]);
  } else if (row.status === "expired") {
    asked.status = "expired";
    expect([step.told.some(({ prepared }) => prepared.passes), row.answer]).toEqual([true, null]);
  } else expect(row.status).toBe("pending");
  if (row.kind !== "client_tool" || row.tool_name !== "client/pay") return;
  // The client is about to apply it: that takes a yes, and it gets what was agreed to.
  expect(approval ? approval.applies : isDirect(model, wish, now), `order ${wish.order} was approved`).toBe(true);
  if (asked.status !== "pending") return;
  const opened = await real.runtime(0).requests.open(row.id);
  expect(opened.parameters).toEqual(approval ? parametersOf(approval) : wish.parameters);
}

/** True when a call needs nobody's yes, or did not while the step went on. */
function isDirect({ memory }: Expectation, wish: Wish, { step, rule }: Pick<About, "step" | "rule">): boolean {
  return isRemembered(memory, "direct", wish, rule) || isRemembered(step.memory, "direct", wish, step.rule);
}

function isRemembered(memory: Memory, policy: "direct" | "forbidden", wish: Wish, rule: number): boolean {
  const known = memory.get(scopeOf(wish));
  return known?.policy === policy && known.rule === rule;
}

/** Every application has one valid decision for exactly what it was applied with, and every such decision one application. */
async function compareApplied(model: Expectation, real: Runtimes, step: Step): Promise<void> {
  const { applied } = real.shop;
  const keys = applied.map(({ key }) => key);
  expect(new Set(keys).size, "no call is applied twice").toBe(keys.length);
  const calls = new Map((await real.calls()).map((row) => [row.key, `${row.thread_id} ${row.run} ${row.number}`]));
  for (const { key, threadId, input } of applied.slice(model.checked)) {
    const call = calls.get(key);
    const asked = model.asked.find((each) => each.call === call);
    const wish = asked?.wish ?? real.shop.wishes.get(Number(input.order));
    if (!wish) throw new Error(`Nobody wished for ${JSON.stringify(input)}.`);
    expect(
      asked ? asked.applies : isDirect(model, wish, { step, rule: real.rule }),
      `order ${wish.order} was approved`,
    ).toBe(true);
    expect(input).toEqual({ ...(asked ? parametersOf(asked) : wish.parameters), actor: threads[wish.thread]?.user });
    expect(threadId).toBe(real.threadIds[wish.thread]);
    model.note(asked ? "applied" : "applied without asking");
  }
  model.checked = applied.length;
  const isApplied = ({ call, tool }: Asked) =>
    tool === "shop/refund"
      ? keys.some((key) => calls.get(key) === call)
      : model.asked.some((each) => each.call === call && each.kind === "client_tool");
  for (const asked of model.asked.filter(({ kind }) => kind === "approval")) {
    if (asked.applies && !isApplied(asked) && !step.isExact && isStopped(step, asked)) asked.applies = false;
    expect(isApplied(asked), `order ${asked.wish.order} is applied`).toBe(asked.applies);
  }
}

/** The queue of what is pending, and what is remembered, as anybody reads them. */
async function compareLists(model: Expectation, real: Runtimes): Promise<void> {
  const { approvals, requests } = real.runtime(0);
  const isOdd = (id: string) => model.asked.some((asked) => asked.id === id && (asked.isSpoiled || asked.isRevived));
  const pending = model.pending().filter(({ id }) => !isOdd(id));
  const idsOf = (kind: string | undefined) =>
    pending.flatMap((asked) => (kind === undefined || asked.kind === kind ? [asked.id] : [])).toSorted();
  const inQueue = (await approvals.list({ status: "pending" })).map(({ action_id }) => action_id);
  expect(inQueue.filter((id) => !isOdd(id)).toSorted()).toEqual(idsOf("approval"));
  const listed = (await requests.list({ status: "pending" })).map(({ id }) => id);
  expect(listed.filter((id) => !isOdd(id)).toSorted()).toEqual(idsOf(undefined));
  const remembered = (await approvals.remembered.list()).map(
    ({ user_id, workspace, tool_name, policy }) =>
      [`${user_id} ${workspace.workspace_id} ${tool_name}`, policy] as const,
  );
  expect(new Map(remembered)).toEqual(new Map([...model.memory].map(([scope, { policy }]) => [scope, policy])));
}
