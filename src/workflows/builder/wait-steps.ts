// Steps that wait for something that happens outside: an event, a decision, an answer.
import { parseDuration } from "../../contracts/gateway/durations.ts";
import type { JsonMap, UnknownMap } from "../../contracts/json.ts";
import { type ApproverRule, read as readApprovers } from "../../contracts/trust/approver-rule.ts";
import type { ToolSchema } from "../../threads/schemas/tool-schema.ts";
import { invalid, required } from "./place.ts";
import { type Fitting, schemaInSpec } from "./schemas.ts";
import { newStep, type Step } from "./step.ts";
import type { ExpressionMap, Text } from "./values.ts";
import { written } from "./written.ts";

type Timeout = {
  /** How long it is waited for, such as `2d`; the step then fails. Without end unless given. */
  readonly timeout?: string;
};

export type EventOptions<Payload extends ToolSchema> = Timeout & {
  /** Paths in the payload, such as `order.id`, to what has to stand there; any event of the name unless given. */
  readonly match?: ExpressionMap;
  /** What the payload looks like: zod, any Standard Schema, or JSON Schema. */
  readonly payload?: Payload;
};

/** Waits for an event. Its payload is the output; one that came before the step is kept for it. */
export function waitForEvent<const Payload extends ToolSchema = UnknownMap>(
  name: string,
  { match, payload, ...more }: EventOptions<Payload> = {},
): Step<Fitting<Payload>, "wait"> {
  return waiting(more, () => ({
    event: required(name, "event"),
    ...(match !== undefined && { match: written(match) }),
    ...(payload !== undefined && { payload: schemaInSpec(payload, "payload") }),
  }));
}

export type ApprovalOptions = Timeout & {
  /** Who may decide; anyone who may decide about the run unless given. */
  readonly approvers?: ApproverRule;
};

/** A yes, and who gave it; null where that is not known. */
export type Approval = { readonly decision: "accepted"; readonly by: string | null };

/** Waits until a person has agreed. A no fails the step, with `approval_rejected`. */
export function waitForApproval(summary: Text, { approvers, ...more }: ApprovalOptions = {}): Step<Approval, "wait"> {
  return waiting(more, () => {
    const rule = approvers === undefined ? undefined : readApprovers(approvers);
    if (typeof rule === "string") throw invalid(`approvers ${rule}`);
    return { approval: { summary: required(written(summary), "summary"), ...(rule && { approvers: rule }) } };
  });
}

export type RequestOptions<Result extends ToolSchema> = Timeout & {
  /** What those who answer are shown. */
  readonly shown?: ExpressionMap;
  /** What is asked for, in words. */
  readonly description?: Text;
  /** What an answer looks like: zod, any Standard Schema, or JSON Schema. */
  readonly result?: Result;
};

/** Asks for something and waits until it is submitted; that is the output. */
export function waitForRequest<const Result extends ToolSchema = UnknownMap>(
  name: string,
  { shown, description, result, ...more }: RequestOptions<Result> = {},
): Step<Fitting<Result>, "wait"> {
  return waiting(more, () => ({
    request: {
      name: required(name, "request"),
      ...(shown !== undefined && { shown: written(shown) }),
      ...(description !== undefined && { description: required(written(description), "description") }),
      ...(result !== undefined && { schema: schemaInSpec(result, "result") }),
    },
  }));
}

function waiting<Output>({ timeout, ...unknown }: Timeout, forWhat: () => JsonMap): Step<Output, "wait"> {
  return newStep("wait", () => {
    const [key] = Object.keys(unknown);
    if (key !== undefined) throw invalid(`${key} means nothing here`);
    if (timeout !== undefined && !parseDuration(timeout)) throw invalid("timeout is no duration such as 30s");
    return { step: { type: "wait", ...forWhat(), ...(timeout !== undefined && { timeout }) } };
  });
}
