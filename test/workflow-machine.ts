// The machine of workflows, driven by hand.
import type { Json, JsonMap } from "../src/contracts/json.ts";
import { advance } from "../src/workflows/machine/advance.ts";
import type { Fact } from "../src/workflows/machine/facts.ts";
import type { Arrived, Next, Order, Outcome } from "../src/workflows/machine/next.ts";
import { type NotReopened, reopen } from "../src/workflows/machine/reopen.ts";
import { outputOfRun, stepRecords } from "../src/workflows/machine/run-view.ts";
import { initialState, type State } from "../src/workflows/machine/state.ts";
import { underWay } from "../src/workflows/machine/under-way.ts";
import { type Body, newWorking, type Working } from "../src/workflows/machine/working.ts";

export type Answer = (order: Order) => Outcome;

type Given = Omit<Parameters<typeof newWorking>[0], "bodies"> & { readonly bodies?: ReadonlyMap<string, Body> };

/** Drives the machine by hand: what it orders is answered one after another, the one that was ordered last or first. */
export class Machine {
  readonly facts: Fact[] = [];
  readonly ordered: string[] = [];
  /** What the last step has changed. */
  changed: ReadonlySet<string> = new Set();
  state: State = initialState;
  working: Working;
  bodies: Map<string, Body>;
  waiting: Order[] = [];
  largest = 0;
  now = 0;
  /** True: all that is kept is written and read again before every step, as after a crash; it has to be known what changed. */
  readonly #forgets: boolean;

  constructor(given: Given, { forgets = false } = {}) {
    this.bodies = new Map(given.bodies);
    this.working = newWorking({ ...given, bodies: this.bodies });
    this.#forgets = forgets;
  }

  step(arrived: readonly Arrived[] = []) {
    if (this.#forgets) this.#restart(arrived.flatMap((each) => ("path" in each ? each.path : [])));
    const before = new Map(this.#forgets ? this.bodies : []);
    const { state, facts, changed, next } = advance(this.state, this.working, this.now, arrived);
    if (this.#forgets) this.#checkChanges(before, changed);
    this.state = state;
    this.facts.push(...facts);
    this.changed = changed;
    this.largest = Math.max(this.largest, JSON.stringify(state).length);
    if (next.kind === "effects") {
      this.waiting.push(...next.begin);
      this.ordered.push(...next.begin.map(({ path }) => path));
    }
    return next;
  }

  /** Answers what was ordered until the run ends or waits. */
  run(answer: Answer, takeLast = false) {
    let next = this.step();
    while (next.kind === "effects" || this.#isDue(next)) {
      if (next.kind !== "effects") {
        next = this.step();
        continue;
      }
      const order = takeLast ? this.waiting.pop() : this.waiting.shift();
      if (!order) throw new Error("Nothing is under way.");
      next = this.step([{ path: order.path, outcome: answer(order) }]);
    }
    return next;
  }

  /** Opens a run again that has failed; why not, where that cannot be. */
  reopen(): NotReopened["refused"] | undefined {
    const reopened = reopen(this.state, this.working);
    if ("refused" in reopened) return reopened.refused;
    this.state = reopened.state;
    this.facts.push(...reopened.facts);
    this.changed = reopened.changed;
    return undefined;
  }

  get record() {
    return {
      status: this.state.status,
      output: outputOfRun(this.working),
      steps: stepRecords(this.working, this.working.steps.length),
    };
  }

  #isDue(next: Next): boolean {
    return next.kind === "park" && next.until !== null && next.until <= this.now;
  }

  #checkChanges(before: ReadonlyMap<string, Body>, changed: ReadonlySet<string>): void {
    const missed = [...before.keys(), ...this.bodies.keys()].filter(
      (path) => before.get(path) !== this.bodies.get(path) && !changed.has(path),
    );
    if (missed.length > 0) throw new Error(`It was not said that these changed: ${missed.join(" ")}`);
  }

  #restart(answered: readonly string[]): void {
    const order = this.waiting.map(({ path }) => path);
    this.state = JSON.parse(JSON.stringify(this.state));
    this.bodies = new Map(JSON.parse(JSON.stringify([...this.bodies])));
    this.working = { ...this.working, bodies: this.bodies, undoable: [...this.working.undoable] };
    const again = underWay(this.state, this.working).filter(({ path }) => !answered.includes(path));
    this.waiting = order.map((path) => again.find((each) => each.path === path)).filter((each) => each !== undefined);
    if (this.waiting.length !== again.length) throw new Error("Other steps are under way than before.");
  }
}

export const echo: Answer = ({ step }) => ({ as: "succeeded", output: (step.args as Json) ?? {} });

export function call(id: string, args: Json = {}, more: JsonMap = {}): JsonMap {
  return { id, type: "ability", ability: "demo/a", args, ...more };
}
