import { expect, it } from "vitest";
import { chatWorld } from "../../../test/chat-world.ts";
import { typeLines } from "../../../test/doors/type-command.ts";
import { scriptedModel } from "../../models/scripted/scripted-model.ts";
import { agent } from "../../threads/agent.ts";
import { tool } from "../../threads/tool.ts";

const pay = tool({ name: "shop/pay", description: "Pays.", execute: () => "Paid." });
const openShop = () => chatWorld(agent({ slug: "support", model: scriptedModel([]), tools: [pay] }));

it("switches off what somebody here has, and what nobody has only when told so twice", async () => {
  const world = await openShop();
  for (const [kind, name] of [
    ["tool", "shop/play"],
    ["agent", "suport"],
  ] as const) {
    const misspelt = await typeLines(world, ["switches", "off", kind, name]);
    expect(misspelt).toMatchObject({ code: 1, out: "", err: expect.stringContaining("switch_unknown") });
  }
  expect((await typeLines(world, ["switches", "list"])).out).toBe("Nothing is switched off.\n");
  const off = await typeLines(world, ["switches", "off", "tool", "shop/pay", "--reason", "Too fast."]);
  expect(off.out).toBe("shop/pay is off.\n");
  expect((await typeLines(world, ["switches", "off", "agent", "elsewhere", "--force"])).code).toBe(0);
  const listed = (await typeLines(world, ["switches", "list"])).out;
  expect(listed).toMatch(/^tool +shop\/pay +off +Too fast\.$/m);
  expect(listed).toMatch(/^agent +elsewhere +off/m);
});

it("lists what is on again only where that is asked for", async () => {
  const world = await openShop();
  await typeLines(world, ["switches", "off", "tool", "shop/pay"]);
  await typeLines(world, ["switches", "on", "tool", "shop/pay"]);
  expect((await typeLines(world, ["switches", "list"])).out).toBe("Nothing is switched off.\n");
  expect((await typeLines(world, ["switches", "list", "--all"])).out).toMatch(/^tool +shop\/pay +on/m);
});

it("prints numbers in a column", async () => {
  const lines = (await typeLines(await openShop(), ["metrics"])).out.trim().split("\n");
  const column = lines.map((line) => /^\S+ +/.exec(line)?.[0].length);
  expect(new Set(column).size).toBe(1);
  expect(lines[0]).toMatch(/^threads\.idle +0$/);
});
