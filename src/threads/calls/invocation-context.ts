// What a tool that code runs at once is told of its thread: the context that a call of a model has in a run.
import type { Thread } from "../../backend/thread-rows.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { runOptions } from "../agent.ts";
import type { Cast } from "../cast/cast.ts";
import type { Host } from "../host.ts";
import { contextOf } from "../run-config.ts";
import { type Subject, subjectOf } from "../subject.ts";

type Within = {
  readonly host: Host;
  readonly thread: Thread;
  readonly cast: Cast;
  /** Of the call that the code runs for; there is none outside of a run. */
  readonly callId?: string;
};

export type InvocationContext = { readonly subject: Subject; readonly context: JsonMap };

export async function invocationContext({ host, thread, cast, callId = "" }: Within): Promise<InvocationContext> {
  const { agent } = cast;
  const own = runOptions(agent);
  const subject = subjectOf(agent, await host.stores.subjects.get(thread.id));
  const context = snapshotMap({
    ...own.context,
    ...(own.actionPolicy !== undefined && { action_policy: own.actionPolicy }),
    ...contextOf(agent, subject, own.context),
    thread_id: thread.id,
    ...(callId !== "" && { run_id: `${thread.id}:${thread.run}`, tool_call_id: callId }),
  });
  return { subject, context };
}
