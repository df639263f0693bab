// A planner that asks a model. Each answer is JSON of a schema; one of another shape is asked for once more, with what is
// wrong with it.
import { type Message, text } from "../../../contracts/conversation/message.ts";
import { holdfastError } from "../../../contracts/error.ts";
import { isMap } from "../../../contracts/json.ts";
import type { Model } from "../../../models/model.ts";
import { type AskedShape, askedFrame, askedPlan, askedReflection } from "./asked-shapes.ts";
import { type Planner, type PlannerOptions, type Reading, readFrame, readPlan, readReflection } from "./planner.ts";
import { framePrompt, type Prompt, planPrompt, reflectPrompt } from "./prompts.ts";

/**
 * Throws `invalid_model_answer` when the second answer is of another shape too, and whatever the model throws; the job
 * that the turn belongs to is then tried again.
 */
export function modelPlanner(model: Model): Planner {
  return {
    frame: (input, options) => ask(model, framePrompt(input), askedFrame, readFrame, options),
    plan(input, options) {
      const names = input.tools.map(({ name }) => name);
      return ask(model, planPrompt(input), askedPlan(names), readUsablePlan, options);
    },
    reflect: (input, options) => ask(model, reflectPrompt(input), askedReflection, readReflection, options),
  };
}

/** A plan without an action is none that a model was asked for. */
function readUsablePlan(answer: unknown): ReturnType<typeof readPlan> {
  const reading = readPlan(answer);
  const isNone = "value" in reading && reading.value.decision === "none";
  return isNone ? { problems: "it needs a tool, or the decision done with an outcome that is not blank" } : reading;
}

/** The answer as the model wrote it, once it has been read without problems. */
async function ask<Answer>(
  model: Model,
  { instructions, text: question }: Prompt,
  output: AskedShape,
  read: (answer: unknown) => Reading<unknown>,
  { signal }: PlannerOptions,
): Promise<Answer> {
  const options = { tools: {}, instructions, output, ...(signal && { signal }) };
  const messages = [text("user", question)];
  for (let repairs = 0; ; repairs++) {
    // Models are handed a copy: some return the transcript they were shown, with the answer behind it.
    const shown = messages.slice();
    const said = wordsOf(await model(shown, {}, options), shown);
    const answer = jsonIn(said);
    const problems = answer === undefined ? "it is no JSON object" : problemsIn(read(answer));
    if (problems === undefined) return answer as Answer;
    if (repairs === MOST_REPAIRS) {
      throw holdfastError("invalid_model_answer", `The model's ${output.name} cannot be used: ${problems}.`);
    }
    const correction = `Your answer cannot be used: ${problems}. Answer again, with the corrected JSON object alone.`;
    messages.push(text("assistant", said), text("user", correction));
  }
}

const MOST_REPAIRS = 1;

function problemsIn(reading: Reading<unknown>): string | undefined {
  return "problems" in reading ? reading.problems : undefined;
}

function wordsOf(answer: unknown, shown: readonly Message[]): string {
  if (typeof answer === "string") return answer;
  const { content, messages } = isMap(answer) ? answer : {};
  if (typeof content === "string" && content !== "") return content;
  const added = Array.isArray(messages) ? messages.slice(shown.length) : [];
  return added.map((message: unknown) => (isMap(message) ? String(message.content) : "")).join("\n");
}

/** The JSON object in a text: alone, in a fenced block, or with words around it. */
function jsonIn(said: string): object | undefined {
  const first = said.indexOf("{");
  const last = said.lastIndexOf("}");
  if (first === -1 || last < first) return undefined;
  try {
    const value: unknown = JSON.parse(said.slice(first, last + 1));
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
