import { beforeEach, describe, expect, it } from "vitest";
import { commit, directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import { effect } from "../definitions/effect.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { effectState } from "./effect-state.ts";

let host: Host;
let thread: Thread;

beforeEach(async () => {
  const named = (name: string) => effect({ name, description: "Does something later.", handler: () => undefined });
  host = await hostInTest({ effects: [named("remind"), named("close")] });
  thread = await openThread(host);
});

const direct = () => effectState(host, directScope(host, thread));

describe.each([
  ["stored at once", () => direct()],
  ["kept for a commit", () => effectState(host, keptScope(host, thread))],
] as const)("effects that are %s", (_, open) => {
  it("wait for their time, the soonest first", async () => {
    const effects = open();
    const late = await effects.scheduleEffect("remind", { note: "late" }, 60_000);
    const soon = await effects.scheduleEffect("close");
    const [first, second, ...others] = await effects.getScheduledEffects();
    expect([first?.id, second?.id, others]).toEqual([soon, late, []]);
    expect(second).toMatchObject({ name: "remind", args: { note: "late" }, status: "pending", attempts: 0 });
    expect((second?.scheduledAt ?? 0) - (first?.scheduledAt ?? 0)).toBeGreaterThan(59_000_000);
    expect((await effects.getScheduledEffects("close")).map(({ id }) => id)).toEqual([soon]);
  });

  it("are taken back once", async () => {
    const effects = open();
    const id = await effects.scheduleEffect("remind", {}, 60_000);
    expect([await effects.removeScheduledEffect(id), await effects.removeScheduledEffect(id)]).toEqual([true, false]);
    expect(await effects.removeScheduledEffect("nobody's")).toBe(false);
    expect(await effects.getScheduledEffects()).toEqual([]);
  });

  it("have to be defined, and to be later rather than earlier", async () => {
    const effects = open();
    await expect(effects.scheduleEffect("nobody's")).rejects.toThrow(
      'definition_not_found: There is no effect "nobody\'s" (there is: close, remind).',
    );
    await expect(effects.scheduleEffect("remind", {}, -1)).rejects.toThrow(/^invalid_argument: /);
    expect(await effects.getScheduledEffects()).toEqual([]);
  });

  it("are not scheduled on a thread that was terminated meanwhile", async () => {
    const effects = open();
    await host.stores.threads.terminate(thread.id, createEntry.stop("Enough."));
    await expect(effects.scheduleEffect("remind")).rejects.toThrow(/^thread_terminated: /);
  });
});

it("one that was cancelled stays in the history, and its arguments are stored sealed", async () => {
  const id = await direct().scheduleEffect("remind", { token: "hunter2" }, 60_000);
  await direct().removeScheduledEffect(id);
  const stored = await host.stores.state.effect(thread.id, id);
  expect(stored).toMatchObject({ status: "agent_canceled", name: "remind" });
  expect(stored?.args).not.toContain("hunter2");
});

it("one that was scheduled and taken back within one call never runs, and followers are told without its arguments", async () => {
  const scope = keptScope(host, thread);
  const effects = effectState(host, scope);
  const id = await effects.scheduleEffect("remind", { token: "hunter2" });
  await effects.removeScheduledEffect(id);
  expect(scope.buffer.events).toMatchObject([
    { event: "effect_changed", data: { id, name: "remind", status: "pending" } },
    { event: "effect_changed", data: { id, name: "remind", status: "agent_canceled" } },
  ]);
  expect(JSON.stringify(scope.buffer.events)).not.toContain("hunter2");
  await commit(host, thread.id, scope.buffer);
  expect(await host.stores.state.dueEffect(thread.id)).toBeUndefined();
});
