// What models are asked for in each phase, as JSON Schema. Every field is required, and null where it says nothing: not
// every provider takes optional fields, or maps with keys of their own.
import { z } from "zod";
import type { JsonMap } from "../../../contracts/json.ts";

export type AskedShape = { readonly name: string; readonly schema: JsonMap };

const text = (description: string) => z.string().describe(description);
const texts = (description: string) => z.array(z.string()).describe(description);

export const askedFrame = shape(
  "frame",
  z.strictObject({
    todo: texts("The definition of done: 3 to 7 items, each of which can be checked."),
    evidence: texts("What would show that the items are done."),
    notes: text("Assumptions, constraints and risks, in a few sentences. Empty when there are none."),
  }),
);

/** The plan for an agent that may use these tools. */
export function askedPlan(tools: readonly string[]): AskedShape {
  const [first, ...others] = tools;
  const tool = first === undefined ? z.null() : z.enum([first, ...others]).nullable();
  return shape(
    "plan",
    z.strictObject({
      decision: z.enum(["act", "done"]).describe("act: use one tool next. done: the goal is reached already."),
      steps: texts("The steps that are still ahead, the next one first."),
      tool: tool.describe("The tool to use next; null when done."),
      tool_command: z.string().nullable().describe("A command of the tool; null for its default."),
      tool_payload: z
        .string()
        .nullable()
        .describe("The input of the tool: a JSON object, written as text. Null when done."),
      rationale: text("Why this is the next action, in one sentence."),
      outcome: z.string().nullable().describe("When done: what was achieved. Otherwise null."),
      artifacts: texts("When done: paths in the workspace of the files that are the result."),
    }),
  );
}

export const askedReflection = shape(
  "reflection",
  z.strictObject({
    decision: z
      .enum(["continue", "reframe", "retry", "done", "escalate"])
      .describe(
        "continue: go on with the plan. retry: the same action again. reframe: the definition of done is wrong. " +
          "done: every item of it is met. escalate: people have to decide.",
      ),
    summary: text("What the result means for the goal, in one or two sentences."),
    next_focus: z.string().nullable().describe("What the next step should concentrate on."),
    memory_update: texts("Facts from the result that later steps need, one per item. Short."),
    updated_state: z.string().nullable().describe("Where the run stands now, in one sentence."),
    outcome: z.string().nullable().describe("When done: what was achieved. Otherwise null."),
    artifacts: texts("When done: paths in the workspace of the files that are the result."),
    detail: z.string().nullable().describe("When reframing or escalating: why. Otherwise null."),
  }),
);

function shape(name: string, schema: z.ZodType): AskedShape {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema) as { [key: string]: JsonMap[string] };
  return { name, schema: rest };
}
