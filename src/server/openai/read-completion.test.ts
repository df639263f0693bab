import { describe, expect, it } from "vitest";
import type { AnswerEvent } from "../chat/answer-event.ts";
import { createCompletionReader } from "./read-completion.ts";

const step: AnswerEvent = { type: "step" };
const restarted: AnswerEvent = { type: "restarted" };
const text = (said: string): AnswerEvent => ({ type: "text", text: said });

function read(...events: readonly AnswerEvent[]): readonly string[] {
  const reader = createCompletionReader();
  return events.map((event) => reader.add(event)).filter((words) => words !== "");
}

describe("the words of a completion", () => {
  it("stand apart where another step begins", () => {
    expect(read(step, text("Let me "), text("look."), step, text("There."))).toEqual([
      "Let me ",
      "look.",
      "\n\nThere.",
    ]);
  });

  it("are not told again by another attempt that says the same", () => {
    expect(read(step, text("It left"), restarted, text("It "), text("left on "), text("Monday."))).toEqual([
      ...["It left", " on ", "Monday."],
    ]);
  });

  it("are told after those that cannot be taken back, when another attempt says something else", () => {
    expect(read(step, text("It left"), restarted, text("No."), text(" Not yet."))).toEqual([
      "It left",
      "\n\nNo.",
      " Not yet.",
    ]);
  });
});
