import { expect, it } from "vitest";
import * as approvalDecision from "./approval-decision.ts";

it("is remembered only when that is asked for", () => {
  expect(approvalDecision.fromString("rejected")).toEqual({ value: "rejected", remember: false });
  expect(approvalDecision.fromString("accepted", true)).toEqual({ value: "accepted", remember: true });
});

it.each(["approved", "Accepted", " accepted", "", true, null, ["accepted"], { value: "accepted" }])(
  "takes nothing for a decision but the two words: %j",
  (value) => {
    expect(() => approvalDecision.fromString(value)).toThrow("invalid_ai_approval_decision: value must be accepted or");
  },
);
