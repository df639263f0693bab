import { describe, expect, it } from "vitest";
import { cancellationMessage, createMemoryChatRunControl, normalizeChatRun } from "./chat-run-control.ts";

const alice = { type: "user", key: "7" };
const bob = { type: "user", key: "8" };

function newRuns() {
  let minute = 0;
  return createMemoryChatRunControl({ now: () => new Date(Date.UTC(2026, 0, 1, 12, minute++)) });
}

describe("chat run control", () => {
  it("shows a run to its owner alone", async () => {
    const runs = newRuns();
    await runs.start({ run_id: "r", session_id: "s", owner: alice });
    expect(await runs.get("r", alice)).toMatchObject({ status: "running" });
    expect(await runs.get("r", bob)).toBeUndefined();
    expect(await runs.get("r")).toBeUndefined();
    expect(await runs.cancel("r", bob)).toBeUndefined();
    expect(await runs.start({ run_id: "r", session_id: "s", owner: bob })).toMatchObject({
      code: "agents_chat_run_owner_forbidden",
    });
  });

  it("lets the holder of the claim token take over a run that waits for its session", async () => {
    const runs = newRuns();
    await runs.start({ run_id: "r", session_id: "pending:r", metadata: { agent: "a", _claim_token: "token" } });
    expect(await runs.start({ run_id: "r", session_id: "s", metadata: { _claim_token: "guess" } })).toMatchObject({
      code: "agents_chat_run_owner_forbidden",
    });
    await runs.cancel("r");
    const adopted = await runs.start({
      run_id: "r",
      session_id: "s",
      metadata: { source: "loop", _claim_token: "token" },
    });
    expect(adopted).toMatchObject({ session_id: "s", status: "cancelling", metadata: { agent: "a", source: "loop" } });
    expect(JSON.stringify(await runs.events("r"))).not.toContain("token");
  });

  it("gives the holder of the claim token a run that is bound already as it is", async () => {
    const runs = newRuns();
    const started = await runs.start({ run_id: "r", session_id: "s", metadata: { agent: "a", _claim_token: "token" } });
    const again = { run_id: "r", session_id: "s", metadata: { source: "loop", _claim_token: "token" } };
    expect(await runs.start(again)).toEqual(started);
    expect(await runs.get("r")).toEqual(started);
    await runs.cancel("r");
    expect(await runs.start(again)).toMatchObject({ status: "cancelling", metadata: { agent: "a" } });
  });

  it("does not let a claim token move a run to another session", async () => {
    const runs = newRuns();
    await runs.start({ run_id: "r", session_id: "s", metadata: { _claim_token: "token" } });
    expect(await runs.start({ run_id: "r", session_id: "other", metadata: { _claim_token: "token" } })).toMatchObject({
      code: "agents_chat_run_owner_forbidden",
    });
  });

  it("queues behind the newest run of the session", async () => {
    const runs = newRuns();
    await runs.start({ run_id: "z-first", session_id: "s" });
    await runs.start({ run_id: "a-second", session_id: "s" });
    expect(await runs.queue({ session_id: "s", message: "next" })).toMatchObject({ run_id: "a-second", position: 1 });
    expect(await runs.queue({ session_id: "s", message: "next" }, alice)).toMatchObject({
      code: "agents_chat_run_not_found",
    });
    expect(await runs.queue({ session_id: "s", run_id: "elsewhere", message: "next" })).toMatchObject({
      code: "agents_chat_run_not_found",
    });
  });

  it("hands a queued message out once", async () => {
    const runs = newRuns();
    await runs.start({ run_id: "r", session_id: "s" });
    const [first, second] = [
      await runs.queue({ session_id: "s", message: "one" }),
      await runs.queue({ session_id: "s", message: "two" }),
    ];
    expect(first).not.toMatchObject({ queued_message_id: (second as { queued_message_id: string }).queued_message_id });
    expect((await runs.claimQueue("s")).map((queued) => queued.message)).toEqual(["one", "two"]);
    expect(await runs.claimQueue("s")).toEqual([]);
  });

  it("says nothing about a run that nobody asked to stop", () => {
    const run = normalizeChatRun({ run_id: "r", session_id: "s" });
    expect(cancellationMessage(run)).toBeUndefined();
    expect(cancellationMessage({ ...run, status: "cancelling" })?.metadata).toMatchObject({
      interrupt_action: "cancel",
    });
  });
});

describe("bad input", () => {
  const control = createMemoryChatRunControl({ now: () => new Date(0) });

  it("is refused with a code, or finds nothing", async () => {
    const nameless = "session_id must be a non-empty string";
    for (const input of [null, {}, { session_id: " " }]) {
      await expect(control.queue(input as never)).rejects.toThrow(nameless);
    }
    expect(await control.queue({ session_id: "s" })).toMatchObject({ code: "agents_chat_run_not_found" });
    expect(await control.canQueue(undefined as never)).toBe(false);
    expect(await control.claimQueue(undefined as never)).toEqual([]);
  });

  it("takes null for nobody, and a number for the name it writes out", async () => {
    await control.start({ run_id: 7, session_id: 5, owner: null } as never);
    expect(await control.get("7")).toMatchObject({ session_id: "5" });
    expect(await control.queue({ session_id: 5, message: 12, agent: 3 })).toMatchObject({ position: 1 });
    expect(await control.claimQueue(" 5 ")).toMatchObject([{ message: "12", agent: "3" }]);
  });
});
