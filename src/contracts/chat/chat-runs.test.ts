import { describe, expect, it } from "vitest";
import { createMemoryChatRunControl } from "../conversation/chat-run-control.ts";
import { createHooks } from "../hooks.ts";
import { cancelRun, getRun, listRunEvents, queueMessage } from "./chat-runs.ts";

const run = { session_id: "s1", run_id: "r1" };

async function started() {
  const runs = createMemoryChatRunControl({ now: () => new Date(0) });
  await runs.start({ ...run, metadata: { agent: "w", api_key: "k" } });
  return runs;
}

describe("the runs of a chat", () => {
  it("are shown without what an onlooker must not see", async () => {
    const runs = await started();
    expect(await getRun(run, { runs })).toMatchObject({ metadata: { agent: "w", api_key: "[redacted]" } });
    expect(await listRunEvents(run, { runs })).toMatchObject({ metadata: { api_key: "[redacted]" } });
    expect(await getRun(run, { runs, mayReadUnredacted: () => true })).toMatchObject({ metadata: { api_key: "k" } });
    // Whoever may stop a run may see it.
    expect(await cancelRun(run, { runs })).toMatchObject({ status: "cancelling", metadata: { api_key: "k" } });
  });

  it("are none of those who come with another owner, and what is wrong with an owner is said first", async () => {
    const runs = await started();
    expect(await getRun(run, { runs, currentUserId: 7 })).toMatchObject({ code: "agents_chat_run_not_found" });
    expect(await getRun({ ...run, session_owner: {} }, { runs })).toMatchObject({
      code: "agents_chat_run_invalid_owner",
    });
    expect(
      await cancelRun({ ...run, workspace: { workspace_type: "site", workspace_id: "1" } }, { runs }),
    ).toMatchObject({ code: "agents_chat_run_owner_required" });
    const here = { ...run, workspace: { workspace_type: "site", workspace_id: "1" } };
    expect(await getRun(here, { runs, currentUserId: 7, knowsWorkspaces: false })).toMatchObject({
      code: "agents_chat_run_workspace_unsupported",
    });
  });

  it("tell what happened by their id alone, to their owner", async () => {
    const runs = await started();
    expect(await listRunEvents({ run_id: "r1", session_id: "s2" }, { runs })).toMatchObject({
      session_id: "s1",
      events: [{ type: "run_started" }],
    });
    const missing = { code: "agents_chat_run_not_found" };
    expect(await listRunEvents({ run_id: "r1" }, { runs, currentUserId: 7 })).toMatchObject(missing);
    expect(await listRunEvents({ run_id: "r2", session_id: "s1" }, { runs })).toMatchObject(missing);
    for (const operate of [getRun, cancelRun]) {
      expect(await operate({ run_id: "r1", session_id: "s2" }, { runs })).toMatchObject(missing);
    }
  });

  it("take no message without a session", async () => {
    const runs = await started();
    for (const session_id of [undefined, " "]) {
      const answer = await queueMessage({ session_id, message: "next" }, { runs });
      expect(answer).toMatchObject({ code: "agents_chat_run_not_found" });
    }
  });

  it("can be kept by a host, whose reports are read like our own", async () => {
    const hooks = createHooks();
    const runs = await started();
    const host = { runs, hooks, mayReadUnredacted: () => true };
    hooks.filter("chatRunStatusHandler", () => () => ({ ...run, status: "SUCCEEDED" }));
    hooks.filter("chatRunCancelHandler", () => () => ({ ...run, status: "cancelled" }));
    hooks.filter("chatRunEventsHandler", () => () => ({ ...run, events: [{ id: 1, type: "x" }] }));
    hooks.filter("chatMessageQueueHandler", () => () => ({ ...run, queued_message_id: "q", position: "2" }));
    expect(await getRun(run, host)).toMatchObject({ status: "running" });
    expect(await cancelRun(run, host)).toMatchObject({ cancelled: true });
    expect(await listRunEvents(run, host)).toMatchObject({ events: [{ id: "1", type: "x" }], has_more: false });
    expect(await queueMessage(run, host)).toMatchObject({ queued_message_id: "q", position: 2 });
  });

  it("are refused with the code of the operation when a host reports none", async () => {
    const hooks = createHooks();
    const host = { runs: await started(), hooks };
    const seams = ["chatRunStatusHandler", "chatRunCancelHandler", "chatRunEventsHandler"] as const;
    for (const seam of seams) hooks.filter(seam, () => () => ({ run_id: "r1" }));
    hooks.filter("chatMessageQueueHandler", () => () => run);
    const codes = [getRun, cancelRun, listRunEvents, queueMessage].map((operate) => operate(run, host));
    expect((await Promise.all(codes)).map((answer) => (answer as { code: string }).code)).toEqual([
      "agents_chat_run_invalid_status",
      "agents_chat_run_invalid_cancel_result",
      "agents_chat_run_invalid_events_result",
      "agents_chat_message_queue_invalid_result",
    ]);
  });
});
