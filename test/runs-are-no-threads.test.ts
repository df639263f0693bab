// Promise: what the runtime keeps as it keeps threads, and is none, is not there for whoever asks for threads: no list tells of
// it, and its id is nobody's. The threads above and below it are as all others.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Operation } from "../src/abilities/operation.ts";
import { aBegunCall, aCommit, anEntry, aRequest, MINUTE } from "../src/backend/contract/a-commit.ts";
import { aStep, aWorkflowRun } from "../src/backend/contract/a-workflow.ts";
import { openChild, written } from "../src/backend/contract/a-write.ts";
import { openThread } from "../src/backend/contract/stores-in-test.ts";
import type { StoredSubject } from "../src/backend/subject-store.ts";
import { isMap } from "../src/contracts/json.ts";
import type { Principal } from "../src/contracts/trust/principal.ts";
import { system } from "../src/contracts/trust/principal.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";
import { ADMINISTRATOR } from "./desk-world.ts";
import { admin, person } from "./shop-desk.ts";

const RUN = "a run of a workflow";
const ABOVE = "a run above a thread";
const NOBODYS = "the id of nothing";
const NEWER = 99;
const OWNER = 7;

/** Proposes a refund before it does anything else. */
const clerk = agent({
  slug: "clerk",
  model: async (messages) => (messages.at(-1)?.type === "text" ? callsTool("shop/refund", {}) : says("Done.")),
  tools: [tool({ name: "shop/refund", description: "Refunds.", actionPolicy: "preview", execute: () => "done" })],
});

/** Where an operation takes the id of a thread. */
const PLACES = ["thread_id", "thread", "parent_thread_id", "session_id", "parent"];

/** What an operation that asks for more than a thread is asked with. */
const GIVEN: Readonly<Record<string, unknown>> = {
  ...{
    content: "Hello",
    message: "Hello",
    path: "a.txt",
    data: "YQ==",
    agent: "shop",
    name: "x",
    key: "k",
    consent: {},
  },
  ...{ seq: 0, run: 1, number: 0, result: 1, run_id: "r", entry_id: "e", effect_id: "e", request_id: "r", env: {} },
  ...{ session_id: "s", client_id: "c", message_id: "m", tool_id: "t", run_ids: ["r"], filters: {} },
};

/** What is about runs, or lists what they wait for beside what threads wait for. */
function isAboutRuns({ name }: Pick<Operation, "name">): boolean {
  return name.includes("workflow") || ["holdfast/list-requests", "holdfast/list-approvals"].includes(name);
}

/** Said to be optional, and asked for in words of their own. */
const MEANT = ["message", "run_id", "client_id", "message_id"];

async function openWorld(newWorld: () => Promise<World>) {
  const world = await newWorld();
  const shop = agent({ slug: "shop", model: async () => says("Done.") });
  const holdfast = await world.open([shop, clerk], {
    trust: { administrators: [ADMINISTRATOR] },
    // The rows are made by hand, and claimed here.
    runConcurrency: 0,
  });
  await holdfast.grants.grant({ agent: "shop", user_id: OWNER, role: "operator" });
  const stores = await world.stores();
  const owner = person(OWNER);
  const opened = await called(holdfast, owner, "holdfast/open-thread", { agent: "shop", key: "own" });
  const { id: thread } = opened as { readonly id: string };
  return { world, holdfast, stores, owner, thread, subject: (await stores.subjects.get(thread)) ?? null };
}

type Opened = Awaited<ReturnType<typeof openWorld>>;

/** One below a thread, at work and with a call of which nobody can tell what it did; and one that nothing stands above. */
async function openRuns({ stores, thread, subject }: Opened): Promise<void> {
  // Of a version that no worker here reads: what a run does is for other tests.
  const kind = { kind: "workflow", agent: "", state_version: NEWER, subject: subject as StoredSubject } as const;
  await openThread(stores, { ...kind, id: RUN, key: `holdfast:${RUN}`, parent_id: thread });
  await openThread(stores, { ...kind, id: ABOVE, key: `holdfast:${ABOVE}`, parent_id: null });
  for (const id of [RUN, ABOVE]) {
    await stores.inbox.put(id, anEntry());
    await written(stores, id, { write: "workflow_run", run: aWorkflowRun(id, { tags: ["paid"] }) }, aStep(id, 0));
  }
  const claim = { worker: "worker 1", limit: 9, lease_us: MINUTE, except: [], state_version: NEWER };
  for (const { id, epoch } of await stores.engine.claim({ ...claim, kind: "workflow" })) {
    const ended = { change: "ended", number: 0, phase: "unknown", outcome: "{}", message_seq: 0 } as const;
    await stores.threads.commit(
      aCommit(
        { id, epoch },
        { status: "waiting", calls: [aBegunCall(0), ended], settle: { wake_rev: 1, due_after: null } },
      ),
    );
  }
}

function called(holdfast: Holdfast, principal: Principal, name: string, input: object): Promise<unknown> {
  return holdfast.abilities.call(name, input, { principal, door: "http" });
}

/** What an operation says when it is given the id, but for that id. */
async function saidOf(holdfast: Holdfast, principal: Principal, operation: Operation, given: object, id: string) {
  const { name, input, doors } = operation;
  const [door = "http"] = doors;
  const { required = [] } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const more = Object.entries(GIVEN).filter(
    ([field]) => required.includes(field) || (MEANT.includes(field) && field in fieldsOf(input)),
  );
  const answer = await holdfast.abilities.call(name, { ...Object.fromEntries(more), ...given }, { principal, door });
  return JSON.stringify(answer).replaceAll(id, "<id>");
}

/** Runs have numbers of their own among the metrics. */
function ofThreads(answer: unknown): unknown {
  if (!isMap(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !name.startsWith("workflow_")));
}

function fieldsOf(input: z.ZodType): object {
  return z.toJSONSchema(input, { io: "input", unrepresentable: "any" }).properties ?? {};
}

eachDatabase((newWorld) => {
  describe("a row that is no thread", () => {
    it("is nobody's, whatever operation its id is given to", async () => {
      const opened = await openWorld(newWorld);
      await openRuns(opened);
      const { holdfast, stores, owner } = opened;
      const before = await Promise.all([RUN, ABOVE].map((id) => stores.threads.load(id)));
      const found: string[] = [];
      for (const operation of holdfast.abilities.list().filter((each) => !isAboutRuns(each))) {
        for (const place of PLACES.filter((field) => field in fieldsOf(operation.input))) {
          for (const principal of [admin, owner]) {
            const said = (id: string) => saidOf(holdfast, principal, operation, { [place]: id }, id);
            const ofNobody = await said(NOBODYS);
            found.push(`${place} of ${operation.name}: ${ofNobody.slice(0, 130)}`);
            for (const id of [RUN, ABOVE]) expect(await said(id), `${operation.name} with ${place}`).toBe(ofNobody);
          }
        }
      }
      const notFound = found.filter((said) => said.includes('"thread_not_found"'));
      expect(notFound.length).toBeGreaterThan(50);
      expect(await Promise.all([RUN, ABOVE].map((id) => stores.threads.load(id)))).toEqual(before);
    });

    it("is in no list, count or metric of threads", async () => {
      const opened = await openWorld(newWorld);
      const { holdfast, owner } = opened;
      const reads = holdfast.abilities.list("http").filter((each) => each.effect === "read" && !isAboutRuns(each));
      const read = async () => {
        const said: Record<string, unknown> = {};
        for (const [who, principal] of Object.entries({ admin, owner })) {
          for (const { name } of reads)
            said[`${name} as ${who}`] = ofThreads(await called(holdfast, principal, name, {}));
        }
        return said;
      };
      const before = await read();
      await openRuns(opened);
      expect(await read()).toEqual(before);
    });

    it("is nobody's for the program either", async () => {
      const opened = await openWorld(newWorld);
      await openRuns(opened);
      const { holdfast, stores, thread } = opened;
      const gone = { code: "thread_not_found" };
      const { threads } = holdfast;
      for (const id of [RUN, ABOVE]) {
        for (const verb of ["get", "view", "subject", "delete", "retry", "diagnose"] as const) {
          await expect(threads[verb](id), verb).rejects.toMatchObject(gone);
        }
        await expect(holdfast.audit.export({ thread: id })).rejects.toMatchObject(gone);
        await expect(holdfast.calls.settle({ thread_id: id, run: 1, number: 0 }, 1)).rejects.toMatchObject({
          code: "call_not_unknown",
        });
        const request = new Request("http://localhost/");
        expect((await holdfast.endpoints.call({ threadId: id, request, path: "/" })).status).toBe(404);
        expect(await threads.find(`holdfast:${id}`)).toBeUndefined();
        expect(await stores.threads.load(id)).toMatchObject({ thread: { next_seq: 1, terminated_at: null } });
      }
      expect(await (await threads.get(thread)).children()).toEqual([]);
      const request = aRequest();
      await stores.writes.apply(RUN, [{ write: "request", thread_id: RUN, run: 1, request }]);
      expect(await holdfast.diagnose()).toEqual({ healthy: true, findings: [] });
      // It is proved with all others.
      const { threads: exported } = await holdfast.audit.export();
      expect(exported.map(({ id }) => id)).toEqual(expect.arrayContaining([thread, RUN, ABOVE]));
    });

    it("has a key under which nobody opens, forks or finds a thread", async () => {
      const { holdfast, owner, thread } = await openWorld(newWorld);
      const invalid = { code: "invalid_thread_key" };
      await expect(holdfast.threads.open("holdfast:x", { agent: "shop" })).rejects.toMatchObject(invalid);
      await expect((await holdfast.threads.get(thread)).fork("holdfast:x")).rejects.toMatchObject(invalid);
      for (const principal of [admin, owner]) {
        const input = { agent: "shop", key: "holdfast:x" };
        const answer = await called(holdfast, principal, "holdfast/open-thread", input);
        if (principal === admin) expect(answer).toMatchObject(invalid);
        else expect(answer).toMatchObject({ key: expect.stringMatching(/^(?!holdfast:)/) });
      }
    });
  });

  describe("a thread with a run above it", () => {
    it("is reached by whose it is, and listed as any other", async () => {
      const opened = await openWorld(newWorld);
      await openRuns(opened);
      const { holdfast, stores, owner, thread } = opened;
      for (const [parent, id] of [
        [RUN, "below both"],
        [ABOVE, "below a run"],
      ] as const) {
        await openChild(stores, parent, { id, agent: "shop", child: null });
        expect(await called(holdfast, owner, "holdfast/get-thread", { thread_id: id })).toMatchObject({ id });
        const sent = await called(holdfast, owner, "holdfast/send-message", {
          thread_id: id,
          content: "Hello",
          wait: true,
        });
        expect(sent).toMatchObject({ status: "completed", final_content: "Done." });
        const stranger = await called(holdfast, person(8), "holdfast/get-thread", { thread_id: id });
        expect(stranger).toMatchObject({ code: "thread_not_found" });
      }
      const listed = (await holdfast.threads.list()).map(({ id }) => id);
      expect(listed).toEqual([thread, "below both", "below a run"]);
      const { threads: costs } = await (await holdfast.threads.get(thread)).cost();
      expect(costs.map(({ thread_id }) => thread_id)).toEqual([thread, "below both"]);
      // Its user may not talk with the agent any more with which he talks above the run.
      await holdfast.grants.revoke("shop", { user_id: OWNER });
      const refused = await called(holdfast, owner, "holdfast/send-message", {
        thread_id: "below both",
        content: "Hello",
      });
      expect(refused).toMatchObject({ code: "agent_not_found" });
    });

    it("has none of the agents above it decide about its actions, past a run neither", async () => {
      const opened = await openWorld(newWorld);
      await openRuns(opened);
      const { holdfast, stores } = opened;
      await openChild(stores, RUN, { id: "below", agent: "clerk", child: null });
      await (await holdfast.threads.get("below")).send("Refund it.");
      const [request] = await holdfast.requests.list({ thread: "below" });
      const accept = (slug: string) =>
        holdfast.requests.submit(request?.id ?? "", { decision: "accepted" }, { principal: system(slug) });
      await expect(accept("shop")).rejects.toMatchObject({ code: "approval_forbidden" });
      await expect(accept("clerk")).rejects.toMatchObject({ code: "approval_forbidden" });
      expect(await accept("another")).toMatchObject({ outcome: "submitted" });
    });

    it("ends with the thread above the run", async () => {
      const opened = await openWorld(newWorld);
      await openRuns(opened);
      const { world, holdfast, stores, thread } = opened;
      await openChild(stores, RUN, { id: "below", agent: "shop" });
      for (const id of [thread, "below"]) await (await holdfast.threads.get(id)).terminate();
      expect(await stores.threads.load(RUN)).toMatchObject({ thread: { status: "terminated" } });
      expect(await (await holdfast.threads.get("below")).status()).toMatchObject({ status: "terminated" });
      expect([...(await holdfast.threads.delete(thread))].sort()).toEqual([RUN, "below", thread].sort());
      expect((await holdfast.threads.list()).length).toBe(0);
      for (const table of ["workflow_runs", "workflow_run_tags", "workflow_steps"]) {
        const ids = (await world.sql(`select run_id from ${table}`)).map(({ run_id }) => run_id);
        expect(ids, table).toEqual([ABOVE]);
      }
    });
  });
});
