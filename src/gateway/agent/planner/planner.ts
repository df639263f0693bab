// The planner port: what an agent asks of whatever decides for it, and the shapes of the answers.
import { z } from "zod";
import { holdfastError } from "../../../contracts/error.ts";
import { isMap, type Json, type JsonMap, snapshotMap } from "../../../contracts/json.ts";

/**
 * Decides what a run does next. Frame turns the goal into a definition of done, plan picks the next action, reflect
 * judges the result of the last one. Answers are read with the schemas below; what is thrown fails the turn, and nothing
 * of the turn takes effect.
 */
export interface Planner {
  frame(input: FrameInput, options: PlannerOptions): Promise<FrameAnswer> | FrameAnswer;
  plan(input: PlanInput, options: PlannerOptions): Promise<PlanAnswer> | PlanAnswer;
  reflect(input: ReflectInput, options: PlannerOptions): Promise<ReflectAnswer> | ReflectAnswer;
}

export type PlannerOptions = { readonly signal?: AbortSignal };

/** What every phase is shown of a run. */
export type RunBrief = {
  readonly run_id: string;
  readonly goal: string;
  /** The text of `context.md`: goal and start context. */
  readonly context: string;
  /** The text of `memory.md`: definition of done, learned facts, status. */
  readonly memory: string;
  /** Steps that are completed; 0 before the first. */
  readonly steps_taken: number;
  readonly max_steps: number;
  readonly reframes: number;
  readonly max_reframes: number;
};

export type FrameInput = RunBrief & {
  /** Why the goal is framed once more; null the first time. */
  readonly why: string | null;
};

export type PlanInput = RunBrief & {
  readonly tools: readonly CatalogueTool[];
  readonly next_focus: string | null;
  /** What the last tool returned; absent before the first step. */
  readonly last_result?: Json;
  readonly default_tool: string | null;
};

export type ReflectInput = RunBrief & {
  /** The text of `plan.md`. */
  readonly plan: string;
  readonly action: Omit<Action, "rationale">;
  readonly result: Json;
};

/** A tool that the agent may use now. */
export type CatalogueTool = {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly {
    readonly name: string;
    readonly description: string;
    readonly input_schema?: JsonMap;
  }[];
};

export type Action = {
  readonly tool: string;
  /** Null for the configured default. */
  readonly tool_command: string | null;
  readonly tool_payload: JsonMap;
  readonly rationale: string;
};

const text = z
  .string()
  .nullish()
  .transform((value) => value?.trim() ?? "");
const texts = z
  .union([z.string().transform((one) => [one]), z.array(z.string()).readonly()])
  .nullish()
  .transform((list): readonly string[] => (list ?? []).map((each) => each.trim()).filter((each) => each !== ""));

/** Commands stand in the agent's state, of which there is one for all runs. No plugin declares a longer one. */
const LONGEST_COMMAND = 128;
const command = text.refine((name) => name.length <= LONGEST_COMMAND, {
  message: `must be the name of a command, which has at most ${LONGEST_COMMAND} characters`,
});

const frameSchema = z.object({
  /** Items that can be checked: the definition of done. */
  todo: texts,
  evidence: texts,
  notes: text,
});

/** Models are asked for the payload as JSON text: not every provider can ask for a map with keys of its own. */
const toolPayload = z
  .unknown()
  .optional()
  .transform((value, context): JsonMap => {
    const payload = payloadOf(typeof value === "string" ? parsed(value) : (value ?? {}));
    if (payload) return payload;
    context.addIssue({ code: "custom", message: "must be a JSON object" });
    return z.NEVER;
  });

const planSchema = z
  .object({
    decision: z.enum(["act", "done"]).nullish(),
    steps: texts,
    tool: text,
    tool_command: command,
    tool_payload: toolPayload,
    rationale: text,
    outcome: text,
    artifacts: texts,
  })
  .transform(({ decision, steps, rationale, outcome, artifacts, ...action }): Plan => {
    const about = { steps, rationale };
    const { tool, tool_payload } = action;
    if (decision !== "done" && tool !== "") {
      const tool_command = action.tool_command === "" ? null : action.tool_command;
      return { decision: "act", action: { tool, tool_command, tool_payload, rationale }, ...about };
    }
    if (decision === "done" && outcome !== "") return { decision: "done", outcome, artifacts, ...about };
    return { decision: "none", ...about };
  });

const reflectSchema = z
  .object({
    /** `retry` is the same action again, as a new step. */
    decision: z.enum(["continue", "reframe", "retry", "done", "escalate"]),
    summary: text,
    next_focus: text,
    memory_update: texts,
    updated_state: z
      .unknown()
      .optional()
      .transform((value) => (typeof value === "string" ? value.trim() : written(value))),
    outcome: text,
    artifacts: texts,
    detail: text,
    reason: text,
  })
  .transform(({ detail, reason, ...rest }) => ({ ...rest, detail: detail || reason }));

export type FrameAnswer = Partial<z.input<typeof frameSchema>>;
export type PlanAnswer = Partial<z.input<typeof planSchema>> | null;
export type ReflectAnswer = Pick<z.input<typeof reflectSchema>, "decision"> & Partial<z.input<typeof reflectSchema>>;

export type Frame = Readonly<z.output<typeof frameSchema>>;
export type Reflection = Readonly<z.output<typeof reflectSchema>>;

/** One action, or the end of the run, or neither: then there is nothing left that the planner would do. */
export type Plan = { readonly steps: readonly string[]; readonly rationale: string } & (
  | { readonly decision: "act"; readonly action: Action }
  | { readonly decision: "done"; readonly outcome: string; readonly artifacts: readonly string[] }
  | { readonly decision: "none" }
);

/** The answer of a phase; problems in words where it has another shape. */
export type Reading<Value> = { readonly value: Value } | { readonly problems: string };

export const readFrame = reader(frameSchema);
export const readPlan = reader(planSchema);
export const readReflection = reader(reflectSchema);

/** The value of a reading. Throws `invalid_model_answer` with the problems. */
export function demand<Value>(phase: string, reading: Reading<Value>): Value {
  if ("value" in reading) return reading.value;
  throw holdfastError("invalid_model_answer", `The planner's answer to ${phase} cannot be used: ${reading.problems}`);
}

function reader<Output>(schema: z.ZodType<Output>): (answer: unknown) => Reading<Output> {
  return (answer) => {
    const { success, data, error } = schema.safeParse(answer ?? {});
    if (success) return { value: data };
    return {
      problems: error.issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`).join("; "),
    };
  };
}

function payloadOf(value: unknown): JsonMap | undefined {
  try {
    return isMap(value) ? snapshotMap(value) : undefined;
  } catch {
    // Nested deeper than anything that is stored.
    return undefined;
  }
}

function parsed(value: string): unknown {
  if (value.trim() === "") return {};
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function written(value: unknown): string {
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? "");
}
