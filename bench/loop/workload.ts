// The work that every subject does: each turn the model says something short and calls one tool; in the last it is done.
import assert from "node:assert/strict";

export const PROMPT = "Look up every order and tell me when you are done.";
export const TOOL = "desk/look_up";
export const DESCRIPTION = "Looks up an order.";

/** The tool's parameters as JSON Schema, the one form that all subjects take. */
export const PARAMETERS = {
  type: "object",
  properties: { order: { type: "integer" }, locale: { type: "string" } },
  required: ["order"],
} as const;

/** What the model answers in one turn, arguments as JSON text, as providers send them; the last turn has no call. */
export type Answer = { readonly text: string; readonly call?: { readonly id: string; readonly input: string } };

/** The model's answers, turn by turn. No two calls are alike. */
export function script(turns: number): readonly Answer[] {
  return Array.from({ length: turns }, (_, turn) =>
    turn === turns - 1
      ? { text: "Done." }
      : {
          text: `Looking up order ${turn}.`,
          call: { id: `call-${turn}`, input: JSON.stringify({ order: turn, locale: "en" }) },
        },
  );
}

/** What the tool answers. */
export function lookUp(order: unknown): { order: unknown; status: string; total: number } {
  return { order, status: "shipped", total: 42 };
}

/** What a run says it did; the counts are kept by the model, the tool and the observer themselves. */
export type Done = {
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** How many times the observer heard that a turn began or ended. */
  readonly observedTurns: number;
  readonly lastText: string;
  /** Messages in the history that the run returns, the prompt left out. */
  readonly messages: number;
};

/** One contestant. `prepare` builds everything for one run, so that only the run itself is timed. */
export type Loop = {
  readonly name: string;
  readonly prepare: (turns: number) => () => Promise<Done>;
  /** Messages that a run adds to the history per turn with a call; formats differ. */
  readonly messagesPerCall: number;
};

/** Throws unless the run did all of the work. */
export function verify({ name, messagesPerCall }: Loop, turns: number, done: Done): void {
  const expected: Done = {
    modelCalls: turns,
    toolCalls: turns - 1,
    observedTurns: turns,
    lastText: "Done.",
    messages: (turns - 1) * messagesPerCall + 1,
  };
  assert.deepEqual(done, expected, `${name} did not do the work of ${turns} turns`);
}
