import { beforeEach, describe, expect, it } from "vitest";
import { ADMINISTRATOR, type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";

describe("the operations on the audit", () => {
  let world: DeskWorld;
  let auditor: Calls;

  beforeEach(async () => {
    world = await deskWorld({ agents: [agent({ slug: "desk", model: scriptedModel([says("Hello.")]) })] });
    auditor = world.as(ADMINISTRATOR);
    await (await world.holdfast.threads.open("c", { agent: "desk" })).send("Hello?");
  });

  it("sign, hand out and verify what was written", async () => {
    const checkpoint = await auditor("holdfast/audit-checkpoint");
    expect(checkpoint).toEqual({ statement: expect.any(String), signature: expect.any(String) });
    expect(await auditor("holdfast/list-checkpoints")).toEqual({ checkpoints: [checkpoint], has_more: false });
    const exported = await auditor("holdfast/export-audit");
    expect(exported).toMatchObject({ schema: "holdfast.audit-export", threads: [{ agent: "desk" }] });
    const { public_key } = await auditor("holdfast/get-audit-key");
    for (const more of [{}, { public_key }, { checkpoints: [checkpoint] }]) {
      expect(await auditor("holdfast/verify-audit", { export: exported, ...more })).toMatchObject({
        ok: true,
        threads: 1,
      });
    }
  });

  it("show the checkpoints page by page", async () => {
    const first = await auditor("holdfast/audit-checkpoint");
    await (await world.holdfast.threads.open("d", { agent: "desk" })).post("Again?");
    const second = await auditor("holdfast/audit-checkpoint");
    const page = (input: object) => auditor("holdfast/list-checkpoints", { ...input });
    expect(await page({ limit: "1" })).toEqual({ checkpoints: [first], has_more: true });
    expect(await page({ limit: 1, offset: "1" })).toEqual({ checkpoints: [second], has_more: false });
  });

  it("change something when they sign, and say so", () => {
    const { annotations, route } = world.holdfast.abilities.get("holdfast/export-audit") ?? {};
    expect(annotations).toMatchObject({ readonly: false, idempotent: true });
    expect(route).toMatchObject({ method: "post" });
  });

  it("name what is not what was written", async () => {
    const exported = JSON.parse(JSON.stringify(await auditor("holdfast/export-audit")));
    exported.threads[0].agent = "other";
    expect(await auditor("holdfast/verify-audit", { export: exported })).toMatchObject({ ok: false });
    expect(await auditor("holdfast/verify-audit", { export: "nothing" })).toMatchObject({ ok: false });
    const genuine = await auditor("holdfast/export-audit");
    expect(await auditor("holdfast/verify-audit", { export: genuine, public_key: "none" })).toMatchObject({
      ok: false,
    });
    const checkpoints = [{ statement: "gone", signature: "gone" }];
    expect(await auditor("holdfast/verify-audit", { export: genuine, checkpoints })).toMatchObject({ ok: false });
  });

  it("export one thread alone, if it is there", async () => {
    const [{ id } = { id: "" }] = await world.holdfast.threads.list();
    await world.holdfast.threads.open("other", { agent: "desk" });
    expect((await auditor("holdfast/export-audit", { thread: id })).threads).toHaveLength(1);
    expect(await auditor("holdfast/export-audit", { thread: "nobody" })).toMatchObject({ code: "thread_not_found" });
  });

  it("are for those who hold the capability, and below every ceiling", async () => {
    const names = ["audit-checkpoint", "list-checkpoints", "export-audit", "verify-audit", "get-audit-key"];
    for (const calls of [world.as(7), world.as(ADMINISTRATOR, ceiling(ADMINISTRATOR, "threads.read"))]) {
      for (const name of names) {
        expect(await calls(`holdfast/${name}`), name).toMatchObject({ code: "ability_forbidden" });
      }
    }
  });
});
