// How a step that the machine orders is carried out: in this process once the commit is there, or by something that is created
// within the commit: a thread, another run, a request, or a wait for an event.

import { revoked } from "./step-errors.ts";
import { beginAgent, isAgentHere } from "./steps/agent-step.ts";
import { beginApproval, needsApproval } from "./steps/approval-step.ts";
import type { Beginning, Begun } from "./steps/beginning.ts";
import { beginNested } from "./steps/nested-step.ts";
import { beginWait } from "./steps/wait-step.ts";

export async function beginElsewhere(about: Beginning): Promise<Begun | "in_process"> {
  const { host, run, order, approved } = about;
  // A run may outlive the token that it was started with.
  if (await host.threads.trust.authority.isRevoked(run.principal)) return { outcome: { as: "failed", error: revoked } };
  if (order.kind !== "run_step") return "in_process";
  const { own } = run.working;
  if (isAgentHere(host, order.step)) return await beginAgent(about);
  if (order.step.type === "workflow" && own.has("workflow")) return await beginNested(about);
  if (order.step.type === "wait" && own.has("wait")) return beginWait(about);
  if (approved === undefined && (await needsApproval(about))) return await beginApproval(about);
  return "in_process";
}
