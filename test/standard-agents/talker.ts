// A model for tests of agents with sides: it gives its answers in order and keeps what it was shown each time.
import type { Message } from "../../src/contracts/conversation/message.ts";
import type { Model, ModelOptions } from "../../src/models/model.ts";
import { inShort } from "../held.ts";

type Shown = {
  readonly messages: readonly Message[];
  /** The messages, a line each. */
  readonly lines: readonly string[];
  readonly options: ModelOptions;
};

/** Words alone are an answer; a function makes one of what the model is shown, and may take its time. */
type Answer = string | object | ((shown: Shown) => unknown);

/** The last answer is given again and again. */
export function talker(...answers: readonly Answer[]) {
  const asked: Shown[] = [];
  const model: Model = (messages, _context, options) => {
    const shown = { messages, lines: inShort(messages), options };
    asked.push(shown);
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? "";
    return typeof answer === "function" ? answer(shown) : answer;
  };
  return { model, asked };
}
