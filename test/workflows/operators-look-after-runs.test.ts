// Promise: the operator of a runtime learns which runs of workflows do not go on, why, and what to type about it; and sees in
// numbers how runs stand.
import { expect, it } from "vitest";
import type { Finding } from "../../src/threads/diagnose.ts";
import { createEntry } from "../../src/threads/new-entry.ts";
import { createSealing } from "../../src/threads/secrets/sealing.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, secretKey, type World } from "../databases.ts";

const A_MINUTE_US = 60_000_000;
const A_DAY_US = 86_400_000_000;

const broken = () => {
  throw new Error("The bank said: no.");
};
const stepFunctions = { note: () => ({ noted: true }), broken };
const note = { id: "note", type: "function", function: "note" };

/** What it did is unknown once its time is over. */
const slow = tool({ name: "shop/slow", description: "Hangs.", timeoutMs: 1, execute: () => new Promise(() => {}) });

async function suspended(world: World, id: string): Promise<void> {
  const status = async () => (await world.sql(`select status from workflow_runs where run_id = '${id}'`))[0]?.status;
  while ((await status()) !== "suspended") await new Promise(setImmediate);
}

const causes = (findings: readonly Finding[]) => findings.map(({ cause, run_id }) => [cause, run_id]);

eachDatabase((newWorld) => {
  it("names stuck runs, with what went wrong, and lets them try again", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions });
    const run = await holdfast.workflows.start({ id: "w", steps: [{ id: "wait", type: "wait", event: "go" }] });
    await suspended(world, run.id);
    const words = createSealing(Buffer.from(secretKey, "hex")).seal("It broke.\nTwice", run.id);
    await world.sql(`update threads set stuck_at = 1, last_error = '${words}' where id = '${run.id}'`);
    const { healthy, findings } = await holdfast.diagnose();
    expect(healthy).toBe(false);
    expect(findings).toEqual([
      {
        ...{ thread_id: null, run_id: run.id, cause: "run_stuck", command: `holdfast runs retry ${run.id}` },
        sentence: `Run ${run.id} is stuck since 1970-01-01T00:00:00.000Z: it was begun three times without a commit, and the last error was: It broke. Twice.`,
      },
    ]);
    await run.retry();
    while (!(await holdfast.diagnose()).healthy) await new Promise(setImmediate);
  });

  it("names the steps whose undo failed, and those of which it is unknown what they did", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions, tools: [slow] });
    const failing = { type: "function", function: "broken" };
    const undone = await holdfast.workflows.start({
      id: "trip",
      steps: [
        { ...note, id: "book", undo: failing },
        { ...note, id: "rent", undo: { type: "function", function: "note" } },
        { id: "pay", ...failing },
      ],
    });
    await undone.result();
    const unknown = await holdfast.workflows.start({
      id: "slow",
      steps: [{ id: "ship", type: "ability", ability: "shop/slow" }],
    });
    await unknown.result();
    const { healthy, findings } = await holdfast.diagnose();
    expect(healthy).toBe(false);
    expect(findings).toEqual([
      {
        ...{ thread_id: null, run_id: unknown.id, cause: "step_outcome_unknown" },
        sentence: expect.stringMatching(
          `^What the step "ship" of run ${unknown.id} did is unknown, which was begun at 20.+: look it up before the run is retried.$`,
        ),
        command: `holdfast runs show ${unknown.id}`,
      },
      {
        ...{ thread_id: null, run_id: undone.id, cause: "rollback_failed" },
        sentence: `The rollback of run ${undone.id} failed: what the step "book" did was not undone.`,
        command: `holdfast runs show ${undone.id}`,
      },
    ]);
    expect(await holdfast.metrics()).toMatchObject({ workflow_runs_with_problems: 2, workflow_unknown_steps: 1 });
  });

  it("names what keeps a run from being carried on, for as long as that is so", async () => {
    const world = await newWorld();
    const steps = [{ id: "wait", type: "wait", event: "go" }, note];
    const first = await world.open([], { stepFunctions });
    const { id } = await first.workflows.start({ id: "w", steps });
    await suspended(world, id);
    await first.close();
    const without = await world.open([]);
    await (await without.workflows.run(id)).send("go");
    const found = async () => (await without.diagnose()).findings;
    while ((await found()).length === 0) await new Promise(setImmediate);
    const words = 'This process has no function "note", which the workflow "w" needs.';
    expect(await found()).toEqual([
      {
        ...{ thread_id: null, run_id: id, cause: "run_put_off", command: null },
        sentence: expect.stringMatching(`^Run ${id} could not be carried on: ${words} It is tried again at 20.+Z.$`),
      },
    ]);
    expect(await without.diagnose()).toMatchObject({ healthy: false });
    await without.close();
    await world.sql("update threads set due_at = 1");
    const last = await world.open([], { stepFunctions });
    expect(await (await last.workflows.run(id)).result()).toMatchObject({ status: "succeeded" });
    expect(await last.diagnose()).toEqual({ healthy: true, findings: [] });
  });

  it("names what a run that was ended for good has left behind", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions });
    const run = await holdfast.workflows.start({
      id: "trip",
      steps: [
        { ...note, undo: { type: "function", function: "note" } },
        { id: "wait", type: "wait", event: "go" },
      ],
    });
    await suspended(world, run.id);
    const { threads } = await world.stores();
    await threads.terminate(run.id, createEntry.stop("The end."));
    expect(await run.result()).toMatchObject({ status: "failed" });
    expect((await holdfast.diagnose()).findings).toMatchObject([
      {
        cause: "rollback_failed",
        sentence: `Run ${run.id} ended before it could be rolled back: what the step "note" did was not undone.`,
      },
    ]);
  });

  it("lists those that have waited for a person for more than a day, and is healthy all the same", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const approval = { id: "agree", type: "wait", approval: { summary: "May I?" } };
    const run = await holdfast.workflows.start({ id: "w", steps: [approval] });
    await suspended(world, run.id);
    expect(await holdfast.diagnose()).toEqual({ healthy: true, findings: [] });
    await world.sql(`update requests set created_at = created_at - ${2 * A_DAY_US}`);
    const [request] = await holdfast.requests.list({ thread: run.id });
    const { healthy, findings } = await holdfast.diagnose();
    expect(healthy).toBe(true);
    expect(findings).toMatchObject([
      { cause: "run_waiting_for_approval", run_id: run.id, command: `holdfast approvals accept ${request?.id}` },
    ]);
  });

  it("names the run that is due the longest, and counts the others", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { runs: false, stepFunctions });
    const runs = [];
    for (const id of ["a", "b", "c"]) runs.push(await holdfast.workflows.start({ id, steps: [note] }));
    expect(await holdfast.diagnose()).toEqual({ healthy: true, findings: [] });
    await world.sql(`update threads set due_at = due_at - ${A_MINUTE_US} where id <> '${runs[2]?.id}'`);
    const oldest = runs[0]?.id ?? "";
    const { findings } = await holdfast.diagnose();
    expect(causes(findings)).toEqual([["run_no_worker", oldest]]);
    expect(findings[0]).toMatchObject({
      sentence: expect.stringMatching(/, and no process carries runs on\. 1 more is overdue\.$/),
      command: "holdfast serve",
    });
    await world.sql("insert into workers (id, started_at, seen_at) values ('w', 1, 1)");
    expect((await holdfast.diagnose()).findings).toMatchObject([{ cause: "run_due", command: null }]);
    expect(await holdfast.metrics()).toMatchObject({
      ...{ workflow_runs_due: 3, workflow_runs_overdue: 2, workflow_oldest_due_ms: expect.any(Number) },
      workflow_runs: { a: { pending: 1 }, b: { pending: 1 }, c: { pending: 1 } },
    });
  });

  it("explains in a sentence what a run waits for", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions });
    const said = async (id: string) => {
      const { cause, sentence, command } = await holdfast.workflows.diagnose(id);
      return [cause, sentence.replaceAll(id, "R").replace(/20\d\d-\S+Z/g, "T"), command?.replaceAll(id, "R") ?? null];
    };
    const waiting = async (step: object) => {
      const run = await holdfast.workflows.start({ id: "w", steps: [step] } as never);
      await suspended(world, run.id);
      return run;
    };
    const event = await waiting({ id: "paid", type: "wait", event: "order.paid" });
    expect(await said(event.id)).toEqual([
      ...[
        "run_waiting_for_event",
        'Run R waits at its step "paid" for the event "order.paid" to be sent to it.',
        "holdfast runs send R order.paid",
      ],
    ]);
    await event.pause();
    while ((await event.summary()).reason !== "paused") await new Promise(setImmediate);
    expect(await said(event.id)).toEqual([
      ...["run_paused", "Run R is paused: nothing new begins until it is resumed.", "holdfast runs resume R"],
    ]);
    const asleep = await waiting({ id: "rest", type: "sleep", for: "1h" });
    expect(await said(asleep.id)).toEqual(["run_sleeping", 'Run R sleeps at its step "rest" until T.', null]);
    const again = await waiting({
      ...{ id: "try", type: "function", function: "broken" },
      retry: { max_attempts: 2, backoff: "1h" },
    });
    expect(await said(again.id)).toEqual([
      ...["run_retrying", 'Run R tries its step "try" again at T, because it failed.', null],
    ]);
    const agreed = await waiting({ id: "agree", type: "wait", approval: { summary: "May I?" } });
    const [request] = await holdfast.requests.list({ thread: agreed.id });
    expect(await said(agreed.id)).toEqual([
      "run_waiting_for_approval",
      `Run R waits at its step "agree" since T until T for a person to decide, request ${request?.id}.`,
      `holdfast approvals accept ${request?.id}`,
    ]);
    const asked = await waiting({ id: "ask", type: "wait", request: { question: "Which?" } });
    const [, open] = await holdfast.requests.list({ status: "pending" });
    expect(await said(asked.id)).toEqual([
      "run_waiting_for_request",
      `Run R waits at its step "ask" since T for a result from outside, request ${open?.id}.`,
      `holdfast requests submit ${open?.id} --result '{}'`,
    ]);
    holdfast.workflows.register({ id: "inner", steps: [{ id: "paid", type: "wait", event: "paid" }] });
    const nested = await waiting({ id: "nest", type: "workflow", workflow: "inner" });
    const [inner] = await holdfast.workflows.runs({ parent: nested.id });
    expect(await said(nested.id)).toEqual([
      "run_waiting_for_workflow",
      `Run R waits at its step "nest" since T for the workflow below it, run ${inner?.run_id}.`,
      `holdfast runs show ${inner?.run_id}`,
    ]);
    await expect(holdfast.workflows.diagnose("nothing")).rejects.toMatchObject({ code: "workflow_run_not_found" });
  });

  it("explains how a run ended, by the code of its error and without its words", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions });
    const ended = async (steps: readonly object[]) => {
      const run = await holdfast.workflows.start({ id: "w", steps } as never);
      await run.result();
      const { sentence, command } = await holdfast.workflows.diagnose(run.id);
      return [sentence.replaceAll(run.id, "R").replace(/20\d\d-\S+Z/g, "T"), command?.replaceAll(run.id, "R") ?? null];
    };
    const pay = { id: "pay", type: "function", function: "broken" };
    expect(await ended([note])).toEqual(["Run R succeeded at T.", null]);
    expect(await ended([pay])).toEqual([
      'Run R failed at T at its step "pay" with handler_exception: its steps that have not succeeded can be tried again.',
      "holdfast runs retry R",
    ]);
    expect(await ended([{ ...note, undo: { type: "function", function: "note" } }, pay])).toEqual([
      'Run R failed at T at its step "pay" with handler_exception, and what it had done was rolled back.',
      null,
    ]);
  });

  it("counts steps of this process, and runs by workflow and status", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions });
    const steps = [note, { id: "broken", type: "function", function: "broken" }];
    for (const id of ["a", "b", "b"]) await (await holdfast.workflows.start({ id, steps })).result();
    await (await holdfast.workflows.start({ id: "b", steps: [note] })).result();
    expect(await holdfast.metrics()).toMatchObject({
      ...{ workflow_steps: 7, workflow_runs_due: 0, workflow_oldest_due_ms: 0, workflow_runs_here: 0 },
      workflow_runs: { a: { failed: 1 }, b: { failed: 2, succeeded: 1 } },
    });
  });
});
