import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ADMINISTRATOR, type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { effect } from "../threads/definitions/effect.ts";

const HOUR_MS = 3_600_000;
const scheduled = { pin: "1234-planted", code: "a code", password: "a password" };

describe("the operations on effects", () => {
  let world: DeskWorld;
  let ann: Calls;
  let thread_id: string;
  let effect_id: string;
  let hasRun: Promise<unknown>;

  beforeEach(async () => {
    const ran = Promise.withResolvers<unknown>();
    hasRun = ran.promise;
    const remind = effect({
      name: "remind",
      description: "Reminds.",
      args: z.looseObject({ code: z.string().meta({ sensitive: true }) }) as never,
      handler: (_state, args) => ran.resolve(args),
    });
    world = await deskWorld({
      agents: [agent({ slug: "desk", model: scriptedModel([says("Hello.")]) })],
      effects: [remind],
    });
    await world.grant("desk", 7, 8);
    ann = world.as(7);
    thread_id = (await ann("holdfast/open-thread", { agent: "desk" })).id;
    const state = await (await world.holdfast.threads.get(thread_id)).state();
    effect_id = await state.scheduleEffect("remind", scheduled, HOUR_MS);
  });

  const list = async (calls: Calls, more: object = {}) =>
    (await calls("holdfast/list-effects", { thread_id, ...more })).effects;

  it("list what is scheduled, and show what it was scheduled with to those who manage threads alone", async () => {
    const [shown] = await list(ann);
    expect(shown).toMatchObject({ id: effect_id, name: "remind", status: "pending", attempts: 0 });
    expect(Date.parse(shown.scheduled_at) - Date.parse(shown.created_at)).toBe(HOUR_MS);
    expect(JSON.stringify(shown)).not.toContain("1234-planted");
    expect(await list(world.as(ADMINISTRATOR))).toMatchObject([
      { args: { pin: "1234-planted", code: "[redacted]", password: "[redacted]" } },
    ]);
    expect(await list(ann, { status: "completed" })).toEqual([]);
    expect(await list(ann, { name: "other" })).toEqual([]);
  });

  it("have one run now", async () => {
    expect(await ann("holdfast/run-effect", { thread_id, effect_id })).toEqual({ action: "ran", id: effect_id });
    expect(await hasRun).toEqual(scheduled);
  });

  it("cancel one that has not begun, and run a copy of one that has ended", async () => {
    expect(await ann("holdfast/cancel-effect", { thread_id, effect_id })).toEqual({ cancelled: true });
    expect(await list(ann)).toMatchObject([{ id: effect_id, status: "user_canceled" }]);
    expect(await ann("holdfast/cancel-effect", { thread_id, effect_id })).toMatchObject({ code: "effect_not_pending" });
    const { action, id } = await ann("holdfast/run-effect", { thread_id, effect_id });
    expect([action, id === effect_id]).toEqual(["replayed", false]);
    await hasRun;
  });

  it("are out of reach for others, and beyond the ceiling of a token", async () => {
    const given = { thread_id, effect_id };
    for (const name of ["list-effects", "run-effect", "cancel-effect"]) {
      expect(await world.as(8)(`holdfast/${name}`, given), name).toMatchObject({ code: "thread_not_found" });
    }
    const reader = world.as(7, ceiling(7, "threads.read"));
    expect(await list(reader)).toHaveLength(1);
    expect(await reader("holdfast/cancel-effect", given)).toMatchObject({ code: "ability_forbidden" });
    expect(await ann("holdfast/run-effect", { thread_id, effect_id: "none" })).toMatchObject({
      code: "effect_not_found",
    });
  });

  it("name the field that is wrong", async () => {
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(`${field}: `) });
    expect(await ann("holdfast/list-effects", { thread_id, status: "odd" })).toMatchObject(message("status"));
    expect(await ann("holdfast/list-effects", { thread_id, limit: "all" })).toMatchObject(message("limit"));
    expect(await ann("holdfast/run-effect", { thread_id })).toMatchObject(message("effect_id"));
  });
});
