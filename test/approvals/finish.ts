// The end of a run of the test: everything is stopped, and what stands in the threads is whole and true.
import { expect } from "vitest";
import { checkThread } from "../../src/testing/check-thread.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { play } from "./commands.ts";
import type { Asked, Expectation } from "./expectation.ts";
import type { Runtimes } from "./runtimes.ts";

export async function finish(model: Expectation, real: Runtimes): Promise<void> {
  for (const thread of real.threadIds.keys()) await play(model, real, { actions: [{ kind: "stop", thread }] });
  expect(model.pending()).toEqual([]);
  // Nothing waits for what somebody has written back to pending; to the thread it would look like a loose end.
  for (const { id, isRevived } of model.asked) {
    if (isRevived) await real.sql(`update requests set status = 'cancelled' where id = '${id}' returning 1`);
  }
  for (const index of real.threadIds.keys()) await checkTranscript(model, real, await real.thread(index));
}

/** Every call has one result, and no result tells of what nobody has brought or applied. */
async function checkTranscript(model: Expectation, real: Runtimes, thread: ThreadHandle): Promise<void> {
  const messages = await thread.messages();
  expect(checkThread(await thread.export(), messages)).toEqual([]);
  const results = Map.groupBy(
    messages.filter(({ message }) => message.type === "tool_result"),
    ({ run, message }) => `${run} ${message.metadata.tool_call_id}`,
  );
  for (const { run, number, tool_call_id, idempotency_key } of await thread.calls()) {
    const found = results.get(`${run} ${tool_call_id}`) ?? [];
    expect(found, `results of call ${number} of run ${run}`).toHaveLength(1);
    const { success, result } = found[0]?.message.payload ?? {};
    if (success !== true) continue;
    const asked = model.asked.findLast(({ call }) => call === `${thread.id} ${run} ${number}`);
    const isApplied = real.shop.applied.some(({ key }) => key === idempotency_key);
    if (!isApplied) expect({ result }, `what call ${number} of run ${run} brought`).toEqual(broughtBy(asked));
  }
}

function broughtBy(asked: Asked | undefined): unknown {
  const counted = asked?.kind === "client_tool" && !asked.isSpoiled ? asked.counted : undefined;
  return counted === undefined ? "nothing" : counted.answer;
}
