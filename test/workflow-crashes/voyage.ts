// The workflow of the matrix: ten steps with everything that a step can be, and the functions that they run. Its second variant
// fails in the last step, and everything is undone.
import type { Json, JsonMap } from "../../src/contracts/json.ts";
import type { StepFunctionDefinition, StepFunctions } from "../../src/workflows/steps/step-functions.ts";
import type { StepFunctionContext } from "../../src/workflows/steps/step-work.ts";
import type { EffectsFile } from "./effects-file.ts";
import type { Variant } from "./order.ts";

const does = (id: string, more: JsonMap = {}): JsonMap => ({ id, type: "function", function: id, ...more });
const undo = (name: string, input: Json = null): JsonMap => ({ undo: { type: "function", function: name, input } });
const bound = (text: string) => `$${`{${text}}`}`;

/** Left by a process that only lost its lease, a step with a `reconcile` is waited for as long as it may take. */
const QUICK = { timeout: "1s" };

export const CABINS: JsonMap = { id: "cabins", steps: [does("cabin", undo("uncabin"))] };

export function voyage(variant: Variant): JsonMap {
  return {
    id: "voyage",
    steps: [
      does("note", { ...QUICK, undo: { type: "function", function: "unnote", input: null, ...QUICK } }),
      {
        id: "legs",
        type: "parallel",
        branches: ["north", "south"].map((role) => ({
          role,
          required: true,
          steps: [
            does("leg", { input: role, ...undo("unleg", role) }),
            does("meal", { input: bound("steps.leg.output.leg") }),
          ],
        })),
      },
      {
        id: "size",
        type: "branch",
        cases: [{ when: { path: "inputs.items", op: "exists" }, steps: [does("large")] }],
        else: [does("small")],
      },
      { id: "ask", type: "agent", agent: "guide", message: "Where to?" },
      { id: "approve", type: "wait", approval: { summary: "Shall we go?" } },
      {
        id: "packing",
        type: "foreach",
        items: bound("inputs.items"),
        concurrency: 4,
        steps: [does("pack", { input: bound("vars.item"), ...undo("unpack", bound("vars.item")) })],
      },
      { id: "nest", type: "workflow", workflow: "cabins", ...undo("empty") },
      { id: "paid", type: "wait", event: "paid", match: { "order.id": 7 } },
      { id: "rest", type: "sleep", for: "1ms" },
      does(variant === "fails" ? "sink" : "sail", { input: bound("steps.paid.output.cents") }),
    ],
  };
}

export type Voyager = {
  readonly effects: EffectsFile;
  /** Told which of the functions runs, before and after its effect. */
  readonly runs: (name: string) => void;
  readonly reached: (point: string) => void | Promise<void>;
};

export function functionsOf({ effects, runs, reached }: Voyager): StepFunctions {
  async function act(name: string, input: Json, { idempotencyKey: key }: StepFunctionContext): Promise<Json> {
    runs(name);
    effects.append({ name: input === null ? name : `${name} ${JSON.stringify(input)}`, key });
    await reached(`inside ${name}`);
    return { [name]: input };
  }
  const idempotent = (name: string): StepFunctionDefinition => ({
    run: (input, context) => act(name, input, context),
    idempotent: true,
  });
  /** Done twice it would be done twice: it looks whether it was. */
  const reconciled = (name: string): StepFunctionDefinition => ({
    run: (input, context) => act(name, input, context),
    reconcile: ({ idempotencyKey, input }) =>
      effects.read().some(({ key }) => key === idempotencyKey)
        ? { status: "done", result: { [name]: input } }
        : { status: "absent" },
  });
  const sink = {
    idempotent: true,
    run: async (input: Json, context: StepFunctionContext) => {
      await act("sink", input, context);
      throw new Error("It sank.");
    },
  };
  const names = ["leg", "unleg", "meal", "large", "small", "pack", "unpack", "cabin", "uncabin", "empty", "sail"];
  return {
    ...Object.fromEntries(names.map((name) => [name, idempotent(name)])),
    ...{ note: reconciled("note"), unnote: reconciled("unnote"), sink },
  };
}

/** Every effect that there has to be, each once. */
export function expectedEffects(variant: Variant, items: number): readonly string[] {
  const each = (name: string) => Array.from({ length: items }, (_, item) => `${name} ${item}`);
  const done = [
    "note",
    'leg "north"',
    'leg "south"',
    'meal "north"',
    'meal "south"',
    "large",
    ...each("pack"),
    "cabin",
  ];
  // What the run below has done is for the step above to undo: that run has succeeded.
  const undone = ["unnote", 'unleg "north"', 'unleg "south"', ...each("unpack"), "empty"];
  return variant === "fails" ? [...done, "sink 12", ...undone] : [...done, "sail 12"];
}
