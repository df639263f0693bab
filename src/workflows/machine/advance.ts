import type { JsonMap } from "../../contracts/json.ts";
import { operationErrorOf } from "../../contracts/operation-error.ts";
import { backoffAfter, retryOf, undoOf } from "../../contracts/workflows/step-options.ts";
import { apply, type Draft, draftOf, fanOutAt, sequenceAt } from "./apply.ts";
import { chosenPart } from "./choose.ts";
import { contextOf } from "./context.ts";
import { endOfParts, errorAt, stageAfter } from "./endings.ts";
import type { Fact, StepEnd } from "./facts.ts";
import { containerOf, isGivenUp, isOptional, toleratesFailures } from "./failure-rules.ts";
import { firstPart, forgetOtherParts, hasSucceeded } from "./kept-parts.ts";
import type { Arrived, Next, Order, Outcome, Step } from "./next.ts";
import { partsOf } from "./open-parts.ts";
import { below, isTopList, ON_FAILURE, parentOf, ROLLBACK, ROOT } from "./path.ts";
import { resolveStep } from "./resolve.ts";
import type { FanOut, OpenStep, Sequence, State } from "./state.ts";
import { essence, invalidSleep, unhandled, waitTimedOut } from "./step-errors.ts";
import { Unread } from "./unread.ts";
import { wakeTime } from "./wake-time.ts";
import { type Body, bodyOf, isParallel, kindOf, lengthOf, type StepError, stepAt, type Working } from "./working.ts";

/** Steps that are open at the same time in one run, those that wait included: they make its state large. */
const MOST_OPEN = 100;

/** Takes what arrived and goes on as far as it can without the outside. `now` is in milliseconds since 1970. */
export function advance(state: State, working: Working, now: number, arrived: readonly Arrived[] = []): Step {
  return advanceDraft(draftOf(state), working, now, arrived);
}

/** The same for a driver that does not keep the state from before: it is changed in place. */
export function advanceDraft(state: Draft, working: Working, now: number, arrived: readonly Arrived[] = []): Step {
  const turn = new Turn(state, working, now);
  if (state.seq === 0) turn.start();
  const outcomes = arrived.filter((each) => "path" in each);
  // A request to stop does not change the outcome of a step, only what follows from it.
  if (outcomes.length < arrived.length) turn.takeCancel();
  for (const { path, attempt, outcome } of outcomes) turn.takeOutcome(path, attempt, outcome);
  turn.goOn();
  return { state: turn.state, facts: turn.facts, changed: turn.changed, next: turn.next };
}

class Turn {
  readonly state: Draft;
  readonly facts: Fact[] = [];
  readonly changed = new Set<string>();
  readonly #working: Working;
  readonly #now: number;
  readonly #orders: Order[] = [];
  /** Open lists of steps and steps with parts that may have something to do. */
  readonly #agenda: string[] = [];
  /** Something could begin now, and does not. */
  #isHeldBack = false;
  #hasFailedPart = false;

  constructor(state: Draft, working: Working, now: number) {
    this.state = state;
    this.#working = working;
    this.#now = now;
  }

  get next(): Next {
    if (this.state.status !== "running") return { kind: "end" };
    const open = Object.values(this.state.steps);
    if (this.#orders.length > 0 || open.some(({ phase }) => phase === "running")) {
      return { kind: "effects", begin: this.#orders };
    }
    if (this.#isHeldBack) return { kind: "yield" };
    const times = open.map(({ until }) => until).filter((until) => until !== null);
    return { kind: "park", until: times.length > 0 ? Math.min(...times) : null };
  }

  record(fact: Fact): void {
    apply(this.state, fact);
    this.facts.push(fact);
  }

  start(): void {
    const { startsAt } = this.#working;
    this.record({ type: "run.started", ...(startsAt > 0 && { at: startsAt }) });
  }

  takeCancel(): void {
    const { status, stage, isCancelling } = this.state;
    // A run that is rolled back, or has nothing left but that, ends soon enough.
    if (status === "running" && stage === "steps" && !isCancelling) this.record({ type: "cancel.requested" });
  }

  takeOutcome(path: string, attempt: number | undefined, outcome: Outcome): void {
    const open = this.state.steps[path];
    // It has ended without it, or is to be tried again: what comes of an earlier attempt is late.
    if (!open || open.phase === "retrying" || (attempt ?? open.attempt) !== open.attempt) return;
    this.#settle(path, outcome);
  }

  /** Closes what is over and opens what may be opened, until something outside is needed. */
  goOn(): void {
    do {
      this.#isHeldBack = false;
      this.#hasFailedPart = false;
      this.#lookAround();
      // What waits behind a part that has failed just now is given up: nothing else would end its wait.
    } while (this.#hasFailedPart);
  }

  /** Lists of steps go on before parts begin, because these begin only where there is room left. */
  #lookAround(): void {
    for (const [path, step] of Object.entries(this.state.steps)) if (step.phase !== "running") this.#lookAt(path, step);
    const lists = pathsOf(this.state, "sequence").reverse();
    this.#agenda.unshift(...pathsOf(this.state, "fan_out").reverse(), ...lists);
    for (let path = this.#agenda.pop(); path !== undefined; path = this.#agenda.pop()) {
      const scope = this.state.scopes[path];
      if (scope?.kind === "sequence") this.#goOnWithSteps(path);
      if (scope?.kind === "fan_out") this.#goOnWithParts(path);
    }
  }

  /** A step that waits: it is given up, its time has come, or it goes on waiting. */
  #lookAt(path: string, { phase, until, attempt }: OpenStep): void {
    if (this.state.isCancelling || isGivenUp(this.state, parentOf(path))) this.#end(path, "cut_off", {});
    else if (until === null || until > this.#now) return;
    else if (phase === "retrying") this.#beginAgain(path, attempt + 1);
    else if (bodyOf(this.#working, path).suspend) this.#settle(path, { as: "failed", error: waitTimedOut });
    else this.#end(path, "succeeded", { output: { until: isoTime(until) } });
  }

  #beginAgain(path: string, attempt: number): void {
    if (!this.#holdsBack()) this.#begin(path, bodyOf(this.#working, path).resolved ?? {}, "run_step", attempt);
  }

  /** To be asked where something would begin. */
  #holdsBack(): boolean {
    const { holdsBack } = this.#working;
    this.#isHeldBack ||= holdsBack;
    return holdsBack;
  }

  #settle(path: string, outcome: Outcome): void {
    switch (outcome.as) {
      case "succeeded":
        this.#end(path, "succeeded", { output: outcome.output });
        return;
      case "failed":
        if (!this.#retries(path, outcome.error)) this.#end(path, "failed", { error: outcome.error });
        return;
      case "skipped":
        this.#end(path, "skipped", { error: outcome.error });
        return;
      case "suspended":
        this.#learn(path, { suspend: outcome.suspend });
        this.record({ type: "step.waiting", path, until: outcome.until ?? null });
        return;
      case "in_parts":
        this.#openParts(path);
        return;
      default:
        outcome satisfies never;
    }
  }

  /** Whether a step that failed is tried again: only if it asks for it, and its error does not rule it out. */
  #retries(path: string, { retryable, retry_after }: StepError): boolean {
    const step = stepAt(this.#working, path);
    // The parts of a step ask for themselves.
    const retry = kindOf(this.#working, step) === "single" ? retryOf(step) : undefined;
    const backoff = retry && backoffAfter(this.state.steps[path]?.attempt ?? 1, retry);
    if (backoff === undefined || retryable === false) return false;
    if (this.state.isCancelling || isGivenUp(this.state, parentOf(path))) return false;
    const asked = typeof retry_after === "number" ? retry_after * 1_000 : 0;
    const { suspend, ...known } = bodyOf(this.#working, path);
    // It waits no more for what the attempt before has waited for.
    if (suspend) this.#replace(path, known);
    this.record({ type: "step.retrying", path, until: this.#now + Math.max(backoff, asked) });
    return true;
  }

  #goOnWithSteps(path: string): void {
    const { at } = sequenceAt(this.state, path);
    const open = below(path, at);
    if (this.state.steps[open] || this.state.scopes[open]) return;
    if (at >= lengthOf(this.#working, path)) this.#endList(path, "succeeded");
    else if (this.state.isCancelling || isGivenUp(this.state, path)) this.#endList(path, "cut_off");
    else if (hasSucceeded(this.#working, open)) {
      this.record({ type: "step.kept", path: open });
      this.#agenda.push(path);
    } else if (!this.#holdsBack()) this.#openStep(open);
  }

  /** Nothing stays of what was known of it before the run was reopened. */
  #openStep(path: string): void {
    const before = bodyOf(this.#working, path).resolved;
    let resolved: JsonMap;
    try {
      resolved = resolveStep(this.#working, path);
    } catch (thrown) {
      if (thrown instanceof Unread) throw thrown;
      // Its parts go by what the step was before: they are compared with that when it is opened once more.
      this.#replace(path, { started_at: this.#now, ...(before && { resolved: before }) });
      this.#end(path, "failed", { error: { ...operationErrorOf(thrown, "workflow_step_invalid"), data: null } });
      return;
    }
    const kind = kindOf(this.#working, resolved);
    this.#replace(path, { resolved, started_at: this.#now });
    if (before) for (const gone of forgetOtherParts(this.#working, path, before, resolved)) this.changed.add(gone);
    if (resolved.type === "sleep" && this.#working.own.has("sleep")) this.#sleep(path, resolved);
    else if (kind === "single") this.#begin(path, resolved, "run_step", 1);
    else if (isParallel(kind) && this.#working.asksFanOut) {
      this.#begin(path, resolved, "fan_out", 1);
    } else this.#openParts(path);
  }

  #begin(path: string, step: JsonMap, kind: Order["kind"], attempt: number): void {
    this.record({ type: "step.begun", path, attempt });
    this.#orders.push({ path, attempt, kind, step, context: () => contextOf(this.#working, path) });
  }

  #sleep(path: string, step: JsonMap): void {
    const until = wakeTime(step, this.#now);
    this.record({ type: "step.begun", path, attempt: 1 });
    if (until === undefined) this.#end(path, "failed", { error: invalidSleep });
    else this.record({ type: "step.waiting", path, until });
    if (until !== undefined && until <= this.#now) this.#end(path, "succeeded", { output: { until: isoTime(until) } });
  }

  #openParts(path: string): void {
    const resolved = bodyOf(this.#working, path).resolved ?? stepAt(this.#working, path);
    const parts = kindOf(this.#working, resolved) === "branch" ? chosenPart(this.#working, path) : partsOf(resolved);
    if ("error" in parts) {
      this.#end(path, "failed", { error: parts.error });
      return;
    }
    const { items, chosen, ...opened } = parts;
    const first = firstPart(this.#working, path, parts);
    this.#learn(path, { ...(items && { items }), ...(chosen !== undefined && { chosen }) });
    this.record({ type: "parts.opened", path, ...opened, first });
    this.#agenda.push(path);
  }

  #goOnWithParts(path: string): void {
    const { count, limit, aggregator, next, open, failed, isCutOff } = fanOutAt(this.state, path);
    const position = next === aggregator ? next + 1 : next;
    const isMore = position < count || aggregator !== null;
    const mayOpen = failed === null && !isCutOff && !this.state.isCancelling && !isGivenUp(this.state, path);
    if (!isMore || !mayOpen) {
      if (open > 0) return;
      const { as, ...known } = endOfParts(this.state, this.#working, path, isMore);
      this.#end(path, as, known);
      return;
    }
    if (position < count) {
      const isRoom = open === 0 || (open < limit && this.#mayOpenMore());
      if (isRoom && !this.#holdsBack()) this.#beginPart(path, position);
    } else if (open === 0 && aggregator !== null && !this.#holdsBack()) this.#beginPart(path, aggregator);
  }

  #beginPart(path: string, position: number): void {
    const part = below(path, position);
    this.record({ type: "part.begun", path: part });
    // It may have failed before the run was reopened.
    if (this.#working.bodies.has(part)) this.#forget(part);
    // First what was opened now, then the parts beside it.
    this.#agenda.push(path, part);
  }

  /** The step is over, and with it, if nothing tolerates its failure, the list that it stands in. */
  #end(path: string, as: StepEnd, known: Body): void {
    const list = parentOf(path);
    const step = stepAt(this.#working, path);
    const error =
      as === "skipped" && !isTopList(list) ? unhandled(containerOf(this.#working, list), step) : known.error;
    const tolerated = as !== "succeeded" && as !== "cut_off" && toleratesFailures(this.#working, list);
    this.#learn(path, {
      ...known,
      status: as,
      ...(error && { error }),
      ended_at: this.#now,
    });
    this.record({ type: "step.ended", path, as, tolerated });
    if (as === "succeeded" && this.state.stage === "steps" && undoOf(step)) this.#working.undoable.push(path);
    if (as === "cut_off") this.#endList(list, "cut_off");
    else if (as === "succeeded" || tolerated) this.#agenda.push(list);
    else this.#endList(list, "failed", error);
  }

  #endList(path: string, as: "succeeded" | "failed" | "cut_off", error?: StepError): void {
    if (isTopList(path)) {
      this.#endTopList(path, as);
      return;
    }
    if (error) this.#learn(path, { error: essence(error) });
    const tolerated = as === "failed" && isOptional(this.#working, path);
    this.record({ type: "part.ended", path, as, tolerated });
    this.#hasFailedPart ||= as === "failed" && !tolerated;
    this.#agenda.push(parentOf(path));
  }

  /** Nothing of a stage is open any more: the next one begins, or the run ends. */
  #endTopList(path: string, as: "succeeded" | "failed" | "cut_off"): void {
    const { failed, isCancelling } = this.state;
    if (path === ROOT) {
      const isFailed = as === "failed" || failed !== null;
      if (failed !== null) this.#learn(ROOT, { error: errorAt(this.#working, failed) });
      this.record({ type: "steps.ended", as: isCancelling ? "cancelled" : isFailed ? "failed" : "succeeded" });
    } else {
      this.record({ type: "stage.ended", stage: path === ROLLBACK ? "rollback" : "on_failure" });
    }
    const next = stageAfter(this.state, this.#working, path);
    if (next === undefined) {
      this.record({ type: "run.ended" });
      return;
    }
    this.record({ type: "stage.begun", stage: next });
    this.#agenda.push(next === "rollback" ? ROLLBACK : ON_FAILURE);
  }

  #mayOpenMore(): boolean {
    const open = Object.values(this.state.steps);
    const running = open.filter(({ phase }) => phase === "running").length;
    return running < this.#working.room && open.length < MOST_OPEN;
  }

  #learn(path: string, known: Body): void {
    this.#replace(path, { ...bodyOf(this.#working, path), ...known });
  }

  #replace(path: string, known: Body): void {
    this.#working.bodies.set(path, known);
    this.changed.add(path);
  }

  #forget(path: string): void {
    this.#working.bodies.delete(path);
    this.changed.add(path);
  }
}

function pathsOf({ scopes }: State, kind: (Sequence | FanOut)["kind"]): string[] {
  return Object.keys(scopes).filter((path) => scopes[path]?.kind === kind);
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
