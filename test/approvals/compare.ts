// What must hold after every step: the real thing has come to what the model says, and has applied nothing but that.
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { compareApplied, discover } from "./compare-applied.ts";
import {
  type Asked,
  type Attempt,
  type Expectation,
  isAccepting,
  isPermitted,
  isRemembered,
  predicted,
  scopeOf,
} from "./expectation.ts";
import { resolverOf } from "./people.ts";
import type { RequestRow, Runtimes } from "./runtimes.ts";
import { isStopped, type Step, type Told } from "./step.ts";

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
    const about = { row, step, stopped: isStopped(step, asked), passed };
    if (asked.isRevived) continue;
    if (asked.status !== "pending") expect(row, "what has ended does not change").toEqual(step.before.get(asked.id));
    else if (row.status === "pending") comparePending(asked, about);
    else end(model, asked, about);
  }
  for (const row of rows.values()) if (!step.before.has(row.id)) await discover(model, real, row, step);
  await compareApplied(model, real, step);
  await compareLists(model, real);
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
  const { row, step, stopped } = about;
  const { ruleAfter } = step;
  if (row.status === "cancelled") expect(stopped).toBe(true);
  // What a client has done stands; what was only approved does not.
  if (step.isLeft && stopped) expect(row.status).toBe(asked.kind === "approval" ? "cancelled" : "settled");
  const counted = countedAttempt(asked, about);
  asked.counted = counted;
  const takers = step.told.filter(
    ({ prepared, outcome }) => prepared.attempt?.asked === asked && outcome === "submitted",
  );
  const taken = takers.map(({ prepared }) => prepared.attempt?.attempt.answer);
  expect([[], [counted.answer]], "what was taken").toContainEqual(taken);
  remember(model, asked, counted);
  if (asked.kind === "client_tool" || !isAccepting(counted) || row.status === "cancelled") return;
  // What was decided about the tool once and for all has the last word, and so have the rules of now.
  asked.applies = ruleAfter === asked.rule && !isRemembered(model.memory, "forbidden", asked.wish, ruleAfter);
  if (counted.answer.parameters !== undefined) model.note("edited");
}

/** The one attempt that the stored answer is: by somebody who was allowed to, in a form that is one. */
function countedAttempt(asked: Asked, about: About): Attempt {
  const { row, step } = about;
  const counted = storedAttempt(asked, about);
  if (!counted) throw new Error(`Nobody gave the answer ${row.answer}.`);
  expect(isValid(asked, counted, step.rule), `${counted.person.name} may answer ${row.answer}`).toBe(true);
  return counted;
}

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
