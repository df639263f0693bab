// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
// Promise: a name that no column of a database can hold keeps no run from going on.
import { expect, it } from "vitest";
import { eachDatabase } from "../databases.ts";
import { until } from "./runs-in-test.ts";

eachDatabase((newWorld) => {
  it("fails a step whose ability has a name that no database can hold", async () => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const spec = { id: "odd", steps: [{ id: "s", type: "ability", ability: "${inputs.name}" }] };
    const run = await holdfast.workflows.start(spec, { name: "a\u0000b" });
    expect(await run.result()).toMatchObject({ status: "failed", error: { code: "unknown_ability" } });
  });

  it.each([
    { what: "no database can hold", id: "s\u0000t" },
    { what: "is longer than a line of a list", id: "long".repeat(200) },
  ])("takes the decision that a step waits for whose name $what", async ({ id }) => {
    const world = await newWorld();
    const holdfast = await world.open([]);
    const run = await holdfast.workflows.start({
      id: "odd",
      steps: [{ id, type: "wait", approval: { summary: "Really?" } }],
    });
    const request = await until(async () => (await holdfast.requests.list({ thread: run.id }))[0]);
    await holdfast.requests.submit(request.id, { decision: "accepted" });
    expect(await run.result()).toMatchObject({ status: "succeeded" });
  });
});
