// The steps of chatRunControl.sequence, against run control in memory.
import { cancellationMessage, createMemoryChatRunControl } from "../../src/contracts/conversation/chat-run-control.ts";
import type { RunOwner, RunStatus } from "../../src/contracts/conversation/run-control.ts";
import { errorMessage, HoldfastError } from "../../src/contracts/error.ts";
import type { JsonMap, UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";

export type Step = {
  do: "start" | "get" | "interrupt" | "cancel" | "finish" | "events" | "queue" | "can_queue" | "claim_queue";
  run_id: string;
  session_id: string;
  status: RunStatus;
  metadata?: JsonMap;
  owner?: RunOwner;
  cursor?: unknown;
  limit?: unknown;
  input: UnknownMap;
};

export async function runSequence(steps: readonly Step[]) {
  const control = createMemoryChatRunControl({ now: () => new Date(0) });

  async function take(step: Step): Promise<unknown> {
    const { run_id, session_id, owner, input } = step;
    switch (step.do) {
      case "start":
        return control.start(step);
      case "get":
        return control.get(run_id, owner);
      case "interrupt": {
        const run = await control.get(run_id, owner);
        return run && cancellationMessage(run);
      }
      case "cancel":
        return control.cancel(run_id, owner);
      case "finish":
        return control.finish(run_id, step.status, owner);
      case "events":
        return control.events(run_id, step, owner);
      case "queue":
        return control.queue(input, owner);
      case "can_queue":
        return control.canQueue(input, owner);
      case "claim_queue":
        return control.claimQueue(session_id, owner);
    }
  }

  const taken: unknown[] = [];
  for (const step of steps) {
    try {
      const answer = await take(step);
      taken.push(isOperationError(answer) ? { error: answer.code } : { value: answer });
    } catch (thrown) {
      taken.push({ error: thrown instanceof HoldfastError ? thrown.detail : errorMessage(thrown) });
    }
  }
  return taken;
}
