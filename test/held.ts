// Models and tools that a test holds in its hand: each call waits until the test says what comes of it.
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Model, ModelOptions } from "../src/models/model.ts";
import { type ScriptedAnswer, says } from "../src/models/scripted/scripted-model.ts";
import { type Tool, type ToolContext, type ToolDefinition, tool } from "../src/threads/tool.ts";

/** A call that nobody has answered yet. */
type Held<Given, Answer> = Given & {
  answer(answer: Answer): void;
  fail(thrown: unknown): void;
};

/** Calls in the order in which they came, for whoever asks for the next one, before or after it has come. */
export function held<Given extends object, Answer>() {
  const waiting: Held<Given, Answer>[] = [];
  const asking: ((call: Held<Given, Answer>) => void)[] = [];
  return {
    call(given: Given): Promise<Answer> {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const call = { ...given, answer: resolve, fail: reject };
      const next = asking.shift();
      if (next) next(call);
      else waiting.push(call);
      return promise;
    },
    next(): Promise<Held<Given, Answer>> {
      const call = waiting.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => asking.push(resolve));
    },
    /** How many calls came that nobody has asked for. */
    count: () => waiting.length,
  };
}

type Asked = {
  readonly messages: readonly Message[];
  /** What the model is shown, a line each. */
  readonly shown: readonly string[];
  readonly options: ModelOptions;
  /** Says a piece of the answer. */
  say(text: string): void;
};

/** A model of which every call is held. Words alone are an answer. */
export function heldModel() {
  const { call, next, count } = held<Asked, string | ScriptedAnswer>();
  const model: Model = async (messages, _context, options) => {
    const say = (text: string) => options.onDelta?.({ type: "text", text });
    const answer = await call({ messages, shown: inShort(messages), options, say });
    return typeof answer === "string" ? says(answer) : answer;
  };
  return { model, next, count };
}

/** A tool of which every call is held. */
export function heldTool(definition: Partial<ToolDefinition> & { readonly name: string }) {
  const { call, next, count } = held<{ readonly input: unknown; readonly context: ToolContext }, unknown>();
  const made: Tool = tool({
    description: "Waits.",
    ...definition,
    execute: (input: unknown, context: ToolContext) => call({ input, context }),
  });
  return { tool: made, next, count };
}

/** A transcript, a line a message: who said what, which tool was called, and what came of it. */
export function inShort(messages: readonly Message[]): readonly string[] {
  return messages.map(({ type, role, content, payload }) => {
    if (type === "tool_call") return `call ${payload.tool_name}`;
    if (type !== "tool_result") return `${role}: ${content}`;
    const { error_type } = (payload.metadata ?? {}) as { error_type?: string };
    return `result ${payload.tool_name}: ${payload.success === true ? JSON.stringify(payload.result) : error_type}`;
  });
}
