// The driver in memory: steps the machine to its end, or to where it has to wait, and does between the steps what it asks for.

import { advanceDraft } from "../machine/advance.ts";
import { draftOf } from "../machine/apply.ts";
import type { Arrived, Next, Order, Outcome, Step } from "../machine/next.ts";
import { parentOf, ROOT } from "../machine/path.ts";
import { initialState, type State } from "../machine/state.ts";
import type { Working } from "../machine/working.ts";
import { workUnderWay } from "./work-under-way.ts";

export type Carrier = {
  readonly now: () => number;
  /** Does what was ordered. What it throws is a failed outcome. */
  readonly perform: (order: Order) => Promise<Outcome>;
  /** Asked before each step of the machine, once more before what it orders begins, and while the run sleeps. */
  readonly isCancelled?: (() => boolean | Promise<boolean>) | undefined;
  /** Called after each step of the machine, before its orders are carried out. */
  readonly stepped?: ((step: Step) => void | Promise<void>) | undefined;
  /** Stops the steps of the run. What undoes them and what follows a failure is carried out to its end. */
  readonly signal?: AbortSignal | undefined;
};

export type Driven = { readonly state: State; readonly next: Extract<Next, { kind: "park" | "end" }> };

/** What the host throws, and what the machine cannot work with, is thrown. */
export async function drive(working: Working, carrier: Carrier, start: State = initialState): Promise<Driven> {
  const { now, signal, stepped } = carrier;
  const work = workUnderWay(carrier.perform);
  const neverBegun = new Set<string>();
  const state = draftOf(start);
  let arrived: readonly Arrived[] = [];
  for (let steps = 1; ; steps++) {
    // Steps that are done at once would keep timers and signals waiting.
    if (steps % STEPS_AT_A_STRETCH === 0) await new Promise(setImmediate);
    if (await isStopped(state, carrier)) {
      const left = signal?.aborted ? work.giveUp().map(cutOff) : [];
      arrived = [...arrived, ...left, { request: "cancel" }];
    }
    const step = advanceDraft(state, working, now(), arrived);
    const told = stepped?.(step);
    if (told) await told;
    const { next } = step;
    if (next.kind === "end" || (next.kind === "park" && next.until === null)) {
      for (const path of neverBegun) working.bodies.delete(path);
      return { state, next };
    }
    const begin = next.kind === "effects" ? next.begin : [];
    // Telling may have taken its time.
    if (told && begin.length > 0 && (await isStopped(state, carrier))) {
      for (const path of openedIn(step)) neverBegun.add(path);
      arrived = [...begin.map(({ path }) => cutOff(path)), { request: "cancel" }];
      continue;
    }
    for (const order of begin) work.begin(order);
    const first = await work.next(untilLook(state, carrier), state.stage === "steps" ? signal : undefined);
    arrived = first ? [first] : [];
  }
}

const STEPS_AT_A_STRETCH = 256;

/** Whether a run is to stop that has not come to undoing its steps, or to what follows a failure. */
async function isStopped({ stage }: State, { signal, isCancelled }: Carrier): Promise<boolean> {
  return stage === "steps" && (signal?.aborted === true || (await isCancelled?.()) === true);
}

function cutOff(path: string): Arrived {
  return {
    path,
    outcome: { as: "failed", error: { code: "cancel_requested", message: "The run was asked to stop." } },
  };
}

/** Milliseconds until a step goes on by itself or it is asked again whether the run is to stop; undefined for neither. */
function untilLook({ steps }: State, { now, isCancelled }: Carrier): number | undefined {
  const times = Object.values(steps).flatMap(({ until }) => (until === null ? [] : [until]));
  if (times.length === 0) return undefined;
  const left = Math.max(Math.min(...times) - now(), 1);
  return isCancelled ? Math.min(left, LONGEST_UNASKED_MS) : left;
}

const LONGEST_UNASKED_MS = 1_000;

/** The steps of the run itself that were opened in this step of the machine. */
function openedIn({ facts }: Step): string[] {
  return facts.flatMap((fact) => {
    const isOpened = (fact.type === "step.begun" && fact.attempt === 1) || fact.type === "parts.opened";
    return isOpened && parentOf(fact.path) === ROOT ? [fact.path] : [];
  });
}
