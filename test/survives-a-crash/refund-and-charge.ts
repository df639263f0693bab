// Two calls of an agent that somebody has to decide about, for scenarios in which one is accepted and the other rejected.
import { calls, callsTool, says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import type { World } from "../../src/testing/scenario.ts";
import { charge, refund } from "./effect-tools.ts";

export const wish = "Refund 7 and charge 8.";

/** What the agent is made of: it proposes both, and goes on when both were decided. */
export function proposesBoth(world: World) {
  return {
    model: scriptedModel([
      calls(callsTool("shop/refund", { order: "7" }), callsTool("shop/charge", { order: "8" })),
      says("As you decided."),
    ]),
    tools: [refund(world, { actionPolicy: "preview" }), charge(world, { actionPolicy: "preview" })],
  };
}

/** What was said once the refund was accepted, and the charge rejected. */
export const transcript = [
  `user: ${wish}`,
  "call shop/refund",
  /^approval_required: Run shop\/refund/,
  "result shop/refund: success",
  "call shop/charge",
  /^approval_required: Run shop\/charge/,
  "result shop/charge: approval_rejected",
  "assistant: As you decided.",
];
