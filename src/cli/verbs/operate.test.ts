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

it("explains a run of a workflow as it explains a thread, and shows and prunes runs", async () => {
  const world = await openShop();
  const { workflows } = world.holdfast;
  const step = { id: "paid", type: "wait", event: "paid" };
  const run = await workflows.start({ id: 'odd "id"\\', steps: [step] });
  while ((await run.summary()).status !== "suspended") await new Promise(setImmediate);
  const { code, out } = await typeLines(world, ["doctor", run.id]);
  expect({ code, out }).toEqual({
    code: 0,
    out: `Run ${run.id} waits at its step "paid" for the event "paid" to be sent to it.\nholdfast runs send ${run.id} paid\n`,
  });
  expect(await typeLines(world, ["doctor", "nothing"])).toMatchObject({
    ...{ code: 3, err: expect.stringContaining("thread_not_found") },
  });
  expect((await typeLines(world, ["metrics"])).out).toMatch(/^workflow_runs\.odd "id"\\\.suspended +1$/m);
  const headers = { accept: "text/plain", authorization: `Bearer ${world.token}` };
  const text = await (await fetch(`${world.url}/metrics`, { headers })).text();
  expect(text).toContain('\nholdfast_workflow_runs{workflow="odd \\"id\\"\\\\",status="suspended"} 1\n');
  expect(text).toMatch(/^# TYPE holdfast_workflow_steps_total counter$/m);
  const pruned = await typeLines(world, ["db", "prune", "--idle", "1", "--dry-run"]);
  expect(pruned.out).toContain("0 threads and 0 runs of workflows would be deleted");
});
