// Promise: what is said on a thread is kept, shared or handed to a person only with the consent of who it is said with,
// asked for each of these alone; and what allowed it is stored beside it.
import { describe, expect, it } from "vitest";
import * as consent from "../src/contracts/trust/consent.ts";
import { callsTool, type ScriptedAnswer, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { escalation } from "../src/threads/consent/escalation.ts";
import { eachDatabase } from "./databases.ts";
import { actor, creates, finishes, lead, onlyChild, staying, worker } from "./standard-agents/team.ts";

const ann = { acting_user_id: 7, effective_agent_id: "desk", auth_source: "user", request_context: "chat" };
const site = { workspace_type: "site", workspace_id: "1" };
const owner = { type: "user", key: "7" };

const desk = (script: readonly ScriptedAnswer[]) =>
  agent({ slug: "desk", model: scriptedModel(script), tools: [escalation()] });

const saysOnly = (...words: string[]) => desk(words.map((word) => says(word)));

eachDatabase((newWorld) => {
  describe("a transcript", () => {
    it("is kept as a session only with consent, and the decision beside it", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("Hello.", "Again."));
      const silent = await holdfast.threads.open("silent", { agent: "desk", principal: ann, workspace: site });
      await silent.send("Hi.");
      expect(await holdfast.sessions.get(silent.id)).toBeUndefined();

      const kept = await holdfast.threads.open("kept", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await kept.send("Hi.");

      expect(await holdfast.sessions.get(kept.id)).toMatchObject({
        ...{ session_id: kept.id, thread_id: kept.id, ...site, owner_type: "user", owner_key: "7", user_id: 7 },
        ...{ agent_slug: "desk", title: "kept", context: "chat" },
        messages: [{ content: "Hi." }, { content: "Hello." }],
        consent: { allowed: true, operation: "store_transcript", reason: "explicit_consent" },
      });
      expect(await holdfast.sessions.list(site, owner)).toHaveLength(1);
      expect(await holdfast.sessions.list(site, { type: "user", key: "8" })).toEqual([]);
    });

    it("grows by what each run says, without what was said after consent was taken back", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One.", "Two.", "Three."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await thread.send("First.");
      await thread.send("Second.");
      expect(await thread.consent({ store_transcript: false })).toEqual({ store_transcript: false });
      await thread.send("Third.");

      const { messages = [] } = (await holdfast.sessions.get(thread.id)) ?? {};
      expect(messages).toMatchObject(["First.", "One.", "Second.", "Two."].map((content) => ({ content })));
    });

    it("shows later versions of its messages, and none that was deleted", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One.", "Two."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await thread.send("First.");
      const [first, answer] = await thread.messages();
      await thread.editMessage(first?.seq ?? 0, "First, edited.");
      await thread.deleteMessage(answer?.seq ?? 1);
      await thread.send("Second.");

      const { messages = [] } = (await holdfast.sessions.get(thread.id)) ?? {};
      expect(messages).toMatchObject(["First, edited.", "Second.", "Two."].map((content) => ({ content })));
    });

    it("follows what is changed and deleted also after consent was taken back", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await thread.send("My pin is 4711.");
      await thread.consent({ store_transcript: false });
      const [first, answer] = await thread.messages();
      await thread.deleteMessage(first?.seq ?? 0);
      await thread.editMessage(answer?.seq ?? 1, "One, edited.");
      await expect
        .poll(async () => (await holdfast.sessions.get(thread.id))?.messages)
        .toMatchObject([{ content: "One, edited." }]);
    });

    it("is not brought back by a run that ends while it is deleted", async () => {
      const world = await newWorld();
      let onEnd: (() => Promise<unknown>) | undefined;
      const holdfast = await world.open(saysOnly("One.", "Two."), {
        onPoint: async (point) => {
          if (!point.startsWith("before commit") || !point.includes("settle")) return;
          const act = onEnd;
          onEnd = undefined;
          await act?.();
        },
      });
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await thread.send("First.");
      onEnd = () => holdfast.sessions.delete(thread.id);
      await thread.send("In private.");

      expect(onEnd).toBeUndefined();
      expect(await holdfast.sessions.get(thread.id)).toBeUndefined();
    });

    it("can be deleted, and its consent taken back, where the agent is not known", async () => {
      const world = await newWorld();
      const first = await world.open(saysOnly("One."));
      const thread = await first.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await thread.send("First.");
      await first.close();
      const other = await world.open(agent({ slug: "other", model: () => says("Hm.") }), { runs: false });

      expect(await other.sessions.delete(thread.id)).toBe(true);
      expect(await (await other.threads.get(thread.id)).consent()).toEqual({ store_transcript: false });
    });

    it("is gone for good when it is deleted: the consent to keep it goes with it", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One.", "Two."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true, use_memory: true },
      });
      await thread.send("First.");
      expect(await holdfast.sessions.delete(thread.id)).toBe(true);
      await thread.send("Second.");

      expect(await holdfast.sessions.get(thread.id)).toBeUndefined();
      expect(await thread.consent()).toEqual({ store_transcript: false, use_memory: true });
    });

    it("outlives its thread, which is there only as long as it is needed", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true },
      });
      await thread.send("First.");
      await holdfast.threads.delete(thread.id);

      expect(await holdfast.sessions.get(thread.id)).toMatchObject({
        messages: [{ content: "First." }, { content: "One." }],
      });
    });

    it("is not kept where nobody is present, whatever was said before", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site, context: "cron" },
        consent: { store_transcript: true },
      });
      await thread.send("First.");
      expect(await holdfast.sessions.get(thread.id)).toBeUndefined();
    });

    it("is shared only with consent to that, and what allowed it is kept", async () => {
      const world = await newWorld();
      const holdfast = await world.open(saysOnly("One."));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann, workspace: site },
        consent: { store_transcript: true, store_memory: true, use_memory: true, escalate_to_human: true },
      });
      await thread.send("First.");
      const share = () =>
        holdfast.sessions.share(thread.id, { with: "the auditor", principal: { ...ann, acting_user_id: 9 } });

      await expect(share()).rejects.toMatchObject({ code: "consent_denied" });
      expect(await holdfast.sessions.shares(thread.id)).toEqual([]);
      await thread.consent({ share_transcript: true });
      expect(await share()).toMatchObject({ messages: [{ content: "First." }, { content: "One." }] });
      expect(await holdfast.sessions.shares(thread.id)).toMatchObject([
        {
          shared_with: "the auditor",
          shared_by: { acting_user_id: 9 },
          consent: { allowed: true, operation: "share_transcript" },
        },
      ]);
      await expect(holdfast.sessions.share("nobody", { with: "x" })).rejects.toMatchObject({
        code: "session_not_found",
      });
    });

    it("is decided by the host's own policy where there is one, and by a no where that fails", async () => {
      const world = await newWorld();
      const asked: unknown[] = [];
      const holdfast = await world.open(saysOnly("One.", "Two."), {
        consent(operation, context) {
          asked.push([operation, context.user_id]);
          if (context.user_id === 8) throw new Error("Away.");
          return consent.decision({ allowed: true, operation, reason: "contract 12" });
        },
      });
      const kept = await holdfast.threads.open("t", { agent: "desk", principal: ann });
      await kept.send("First.");
      const lost = await holdfast.threads.open("u", { agent: "desk", principal: { ...ann, acting_user_id: 8 } });
      await lost.send("First.");

      expect(await holdfast.sessions.get(kept.id)).toMatchObject({ consent: { allowed: true, reason: "contract_12" } });
      expect(await holdfast.sessions.get(lost.id)).toBeUndefined();
      expect(asked).toEqual([
        ["store_transcript", 7],
        ["store_transcript", 8],
      ]);
    });
  });

  describe("a run", () => {
    const escalates = callsTool("human/escalate", { reason: "Too hard." });

    it("is not handed to a person without consent, and the model is told", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([escalates, says("As you wish.")]));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann },
        consent: { share_transcript: true },
      });
      expect(await thread.send("Help.")).toMatchObject({ status: "completed", final_content: "As you wish." });
      const result = (await thread.messages()).find(({ message }) => message.type === "tool_result")?.message;
      expect(result?.payload).toMatchObject({ metadata: { error_type: "consent_denied" } });
      expect(await holdfast.requests.list()).toEqual([]);
    });

    it("is handed to a person with consent, which is kept with what that person sees", async () => {
      const world = await newWorld();
      const holdfast = await world.open(desk([escalates, says("Bob says: Soon.")]));
      const thread = await holdfast.threads.open("t", {
        ...{ agent: "desk", principal: ann },
        consent: { escalate_to_human: true },
      });
      const { waiting_for } = await thread.send("Help.");
      const id = waiting_for?.request_id ?? "";
      expect(await holdfast.requests.get(id)).toMatchObject({
        shown: { parameters: { reason: "Too hard." }, consent: { allowed: true, operation: "escalate_to_human" } },
      });
      await holdfast.requests.submit(id, { result: "Soon." });
      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Bob says: Soon." });
    });
  });

  it("refuses what is no session, owner or workspace in words, and changes nothing", async () => {
    const world = await newWorld();
    const { sessions, threads } = await world.open(saysOnly("One."));
    for (const odd of [null, 7, {}, [], "", "a\0b", Object.create(null)] as never[]) {
      expect(await sessions.get(odd)).toBeUndefined();
      expect(await sessions.delete(odd)).toBe(true);
      expect(await sessions.shares(odd)).toEqual([]);
      await expect(sessions.share(odd, odd)).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(sessions.updateTitle("s", odd)).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(sessions.list(site, odd)).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(sessions.list(odd, owner)).rejects.toMatchObject({ code: "invalid_agent_workspace_scope" });
      await expect(threads.open("t", odd)).rejects.toMatchObject({
        code: expect.stringMatching(/^invalid_|^agent_not/),
      });
    }
    const open = (more: object) => threads.open("t", { agent: "desk", ...more } as never);
    for (const more of [
      { principle: ann },
      { principal: ann, user: "8" },
      { context: "a\0b" },
      { workspace: { workspace_type: "site", workspace_id: "a\ud800" } },
      { principal: { ...ann, owner_type: "browser", owner_key: "x\0y" } },
    ]) {
      await expect(open(more)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(await threads.list()).toEqual([]);
  });

  it("is taken back of the children too, and given to nobody but the thread that it is given to", async () => {
    const world = await newWorld();
    const principal = { ...ann, effective_agent_id: "lead" };
    const given = { use_memory: true, store_memory: true };
    const boss = actor(creates(), "Done.");
    const writer = actor(finishes("Written."));
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(writer.model)]);
    const parent = await holdfast.threads.open("t", { agent: "lead", principal, consent: given });
    await parent.send("Begin.");
    const { thread: child } = await onlyChild(holdfast, parent);
    expect(await child.consent()).toEqual(given);

    await parent.consent({ use_memory: false, share_transcript: true });
    expect(await child.consent()).toEqual({ use_memory: false, store_memory: true });
    await child.consent({ store_memory: false });
    expect(await parent.consent()).toEqual({ use_memory: false, store_memory: true, share_transcript: true });
  });

  it("refuses consent to what there is not, and a maybe", async () => {
    const world = await newWorld();
    const holdfast = await world.open(saysOnly("One."));
    const open = (given: object) => holdfast.threads.open("t", { agent: "desk", consent: given as never });
    await expect(open({ store_everything: true })).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(open({ store_memory: "yes" })).rejects.toMatchObject({ code: "invalid_argument" });
    const thread = await holdfast.threads.open("t", { agent: "desk" });
    await expect(thread.consent({ store_everything: true } as never)).rejects.toMatchObject({
      code: "invalid_argument",
    });
    expect(await thread.consent()).toEqual({});
  });
});
