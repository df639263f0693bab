// Which of the declared tools the model sees: settled once a turn, before the model is asked.
import { seal } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { announceTurn } from "./announce.ts";
import { policyContext } from "./declared.ts";
import { failCallback } from "./failure.ts";
import type { Next } from "./next.ts";
import type { Step } from "./step.ts";
import type { Body, Working } from "./working.ts";

/** Asks the visibility policy. When that fails, so does the run: nothing is shown or run that somebody may have denied. */
export function resolveTools(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "visible_tools", context: policyContext(step) } };
  announceTurn(step);
  if ("threw" in arrived) return failCallback(step, arrived.threw);
  const { config, working } = step;
  const given = Array.isArray(arrived.returned) ? arrived.returned : [];
  const names = given.filter((name) => typeof name === "string" && Object.hasOwn(config.tools, name));
  const bodies: Body[] = isShown(names, working) ? [] : [{ to: "tools", names: seal(names) }];
  step.record({ type: "tools.resolved", visible: names.length }, "turn.compact", bodies);
}

/**
 * True when these are the tools that a policy showed before: most turns change nothing, and then nothing is stored. The
 * first answer always is, or a run that is taken up again with more tools would show them all.
 */
function isShown(names: readonly string[], { hasShownTools, tools }: Working): boolean {
  if (!hasShownTools) return false;
  const shown = Object.keys(tools);
  return shown.length === names.length && shown.every((name, index) => name === names[index]);
}
