// Promise: what is wrong with the workflows that a program lists is said when it starts, before anything is opened.
import { expect, it } from "vitest";
import { z } from "zod";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type HoldfastOptions } from "../../src/holdfast.ts";
import { nested, run, stepType, workflow } from "../../src/index.ts";

const sleeps = (id: string, length = "1s") => ({ id, steps: [{ id: "a", type: "sleep", for: length }] });

async function open(options: Partial<HoldfastOptions>): Promise<readonly string[]> {
  const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [], drainsOnSignal: false, ...options });
  const ids = holdfast.workflows.list().map(({ id }) => id);
  await holdfast.close();
  return ids;
}

it.each<[what: string, workflows: unknown, message: RegExp]>([
  ["a spec with a mistake", [sleeps("fine"), sleeps("late", "soon")], /"late" is not valid: steps.0.for: /],
  ["two that run each other", [nests("a", "b"), nests("b", "a")], /"a" is not valid: .*nests_itself/],
  ["two with one id", [sleeps("a"), sleeps("a", "2s")], /Two workflows have the id "a"\./],
  ["no list", { a: sleeps("a") }, /workflows must be a list/],
  ["a list with something else in it", [sleeps("a"), "b"], /workflows must be a list/],
  ["a spec without steps", [{ id: "a" }], /"a" is not valid: /],
])("%s is refused", async (_what, workflows, message) => {
  await expect(open({ workflows: workflows as never })).rejects.toThrow(message);
});

function nests(id: string, other: string) {
  return { id, steps: [{ id: "s", type: "workflow", workflow: other }] };
}

it("the same one may be listed by itself and by those that run it", async () => {
  const inner = workflow("inner").step(
    "a",
    run(() => ({ done: true })),
  );
  const outer = (id: string) => workflow(id).step("s", nested(inner, {}));
  expect(await open({ workflows: [inner, outer("one"), outer("two")] })).toEqual(["inner", "one", "two"]);
});

it("types of steps that the program adds are known", async () => {
  const dance = stepType({ type: "dance", input: z.object({}), execute: () => ({}) });
  const spec = { id: "party", steps: [{ id: "a", type: "dance" }] };
  await expect(open({ workflows: [spec] })).rejects.toThrow("unknown_step_type");
  expect(await open({ workflows: [spec], stepTypes: [dance] })).toEqual(["party"]);
  expect(await open({ workflows: [spec], stepHandlers: { dance: () => ({}) } })).toEqual(["party"]);
});
