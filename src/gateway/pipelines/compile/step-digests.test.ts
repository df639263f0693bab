import { expect, it } from "vitest";
import { graphOf, pipelineOf } from "../pipelines-in-test.ts";

const CALLED = "- {name: called, on: never, steps: [{id: inner, uses: c}, {uses: d}]}";

/** Digests by the ids of the steps. */
function digestsOf(...steps: readonly string[]): Readonly<Record<string, string | undefined>> {
  const graph = graphOf(`- {name: p, on: t, steps: [${steps.join(", ")}]}\n${CALLED}`);
  return Object.fromEntries([...pipelineOf(graph, "p").steps.values()].map(({ id, digest }) => [id, digest]));
}

it("a step has a digest where its author has not named it, or a call that it belongs to", () => {
  const digests = digestsOf("{id: x, uses: a}", "{uses: b}", "{id: go, call: called}", "{call: called}");
  expect(digests).toEqual({
    ...{ x: undefined, step_2: expect.any(String), "go.inner": undefined, "go.step_2": expect.any(String) },
    ...{ "step_4.inner": expect.any(String), "step_4.step_2": expect.any(String) },
  });
  expect(new Set(Object.values(digests)).size).toBe(5);
});

const C = "{uses: c, with: {of: c}}";

it.each([
  ["what follows it", ["{uses: a}", C], ["{uses: a}", C, "{uses: d}"]],
  ["what a step before it says", ["{uses: a}", C], ["{uses: a, timeout: 5s, with: {of: a}}", C]],
  [
    "its timeout and retries",
    ["{uses: a}", C],
    ["{uses: a}", "{uses: c, with: {of: c}, timeout: 5s, retry: {max_attempts: 9}}"],
  ],
  ["the order of the keys", ["{uses: a}", C], ["{uses: a}", "{with: {of: c}, uses: c}"]],
])("the digest of a step stays the same whatever changes of %s", (_what, before, after) => {
  expect(digestsOf(...after).step_2).toBe(digestsOf(...before).step_2);
});

it.each([
  ["another plugin", "{uses: a}", "{uses: d, with: {of: c}}"],
  ["another `with`", "{uses: a}", "{uses: c, with: {of: d}}"],
  ["an `if`", "{uses: a}", "{uses: c, with: {of: c}, if: {path: payload.n, op: exists}}"],
  ["baggage", "{uses: a}", "{uses: c, with: {of: c}, baggage: {n: payload.n}}"],
  ["another step before it", "{uses: b}", C],
  ["a call before it", "{call: called}", C],
])("the digest of a step changes with %s", (_what, ...after) => {
  const before = digestsOf("{uses: a}", C).step_2;
  expect(before).toEqual(expect.any(String));
  expect(digestsOf(...after).step_2).not.toBe(before);
});

it("an `if` has the digest of its step, and of all steps of a call the digests change with those before the call", () => {
  const conditional = digestsOf("{uses: a, if: {path: payload.n, op: exists}}");
  expect(conditional["step_1.if"]).toBe(conditional.step_1);
  const [before, after] = [digestsOf("{uses: a}", "{call: called}"), digestsOf("{uses: b}", "{call: called}")];
  for (const id of ["step_2.inner", "step_2.step_2"]) expect(after[id]).not.toBe(before[id]);
});
