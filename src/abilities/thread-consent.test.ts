import { beforeEach, describe, expect, it } from "vitest";
import { ADMINISTRATOR, type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";

describe("the operations on consent", () => {
  let world: DeskWorld;
  let ann: Calls;
  let thread_id: string;

  beforeEach(async () => {
    world = await deskWorld({ agents: [agent({ slug: "desk", model: scriptedModel([says("Hello.")]) })] });
    await world.grant("desk", 7, 8);
    ann = world.as(7);
    thread_id = (await ann("holdfast/open-thread", { agent: "desk" })).id;
  });

  const change = (calls: Calls, consent: object) =>
    calls("holdfast/change-consent", { thread_id, consent: { ...consent } });

  it("let the person behind a thread agree, and take it back", async () => {
    expect(await ann("holdfast/get-consent", { thread_id })).toEqual({ consent: {} });
    expect(await change(ann, { store_memory: true })).toEqual({ consent: { store_memory: true } });
    expect(await change(ann, { use_memory: false })).toEqual({ consent: { store_memory: true, use_memory: false } });
    expect(await ann("holdfast/get-consent", { thread_id })).toEqual({
      consent: { store_memory: true, use_memory: false },
    });
  });

  it("let nobody agree in their place, though those who reach the thread may take it back", async () => {
    const administrator = world.as(ADMINISTRATOR);
    await world.holdfast.grants.grant({ agent: "desk", user_id: 9, role: "admin" });
    for (const other of [administrator, world.as(9)]) {
      expect(await change(other, { store_memory: true })).toMatchObject({ code: "ability_forbidden" });
      expect(await change(other, { use_memory: false, store_memory: true })).toMatchObject({
        code: "ability_forbidden",
      });
    }
    expect(await ann("holdfast/get-consent", { thread_id })).toEqual({ consent: {} });
    await change(ann, { store_memory: true });
    expect(await change(administrator, { store_memory: false })).toEqual({ consent: { store_memory: false } });
  });

  it("let those who manage threads agree for one that is nobody's", async () => {
    const { id } = await world.holdfast.threads.open("nobody's", { agent: "desk" });
    const given = { thread_id: id, consent: { store_transcript: true } };
    expect(await world.as(ADMINISTRATOR)("holdfast/change-consent", given)).toEqual({
      consent: { store_transcript: true },
    });
  });

  it("are out of reach for others, and beyond the ceiling of a token", async () => {
    expect(await world.as(8)("holdfast/get-consent", { thread_id })).toMatchObject({ code: "thread_not_found" });
    expect(await change(world.as(8), { store_memory: false })).toMatchObject({ code: "thread_not_found" });
    const reader = world.as(7, ceiling(7, "threads.read"));
    expect(await reader("holdfast/get-consent", { thread_id })).toEqual({ consent: {} });
    expect(await change(reader, { store_memory: true })).toMatchObject({ code: "ability_forbidden" });
  });

  it("name the field that is wrong", async () => {
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(field) });
    expect(await change(ann, { store_everything: true })).toMatchObject(
      message('consent: Unrecognized key: "store_everything"'),
    );
    expect(await change(ann, { store_memory: "yes" })).toMatchObject(message("consent.store_memory: "));
    expect(await ann("holdfast/change-consent", { thread_id })).toMatchObject(message("consent: "));
  });
});
