// The machine of workflows, driven by hand.
import type { Json, JsonMap } from "../src/contracts/json.ts";
import { advance } from "../src/workflows/machine/advance.ts";
import type { Fact } from "../src/workflows/machine/facts.ts";
import type { Arrived, Order, Outcome } from "../src/workflows/machine/next.ts";
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
  state: State = initialState;
  working: Working;
  bodies: Map<string, Body>;
  waiting: Order[] = [];
  largest = 0;
  now = 0;
  /** True: all that is kept is written and read again before every step, as after a crash. */
  readonly #forgets: boolean;

  constructor(given: Given, { forgets = false } = {}) {
    this.bodies = new Map(given.bodies);
    this.working = newWorking({ ...given, bodies: this.bodies });
    this.#forgets = forgets;
  }

  step(arrived: readonly Arrived[] = []) {
    if (this.#forgets) this.#restart(arrived.flatMap((each) => ("path" in each ? each.path : [])));
    const { state, facts, next } = advance(this.state, this.working, this.now, arrived);
    this.state = state;
    this.facts.push(...facts);
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
    while (next.kind === "effects") {
      const order = takeLast ? this.waiting.pop() : this.waiting.shift();
      if (!order) throw new Error("Nothing is under way.");
      next = this.step([{ path: order.path, outcome: answer(order) }]);
    }
    return next;
  }

  get record() {
    return {
      status: this.state.status,
      output: outputOfRun(this.working),
      steps: stepRecords(this.working, this.working.steps.length),
    };
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
