// Promise: a run that is cut off after any commit goes on from its log as if nothing had happened. Every scripted
// conversation is stopped wherever the machine asks for something, rebuilt from JSON alone, and compared with the run
// that was left alone.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type LoopScript, runLoop } from "../conformance/scripts/loop.ts";
import { errorMessage } from "../src/contracts/error.ts";
import { asStored, runWithLog, type StoredScript } from "./log-driver.ts";

const { cases } = JSON.parse(
  readFileSync(new URL("../conformance/vectors/runtime/loop.run.json", import.meta.url), "utf8"),
) as { cases: { name: string; input: LoopScript }[] };

describe("a run that is cut off at any commit", () => {
  it.each(cases)("reaches the same result: $name", async ({ input }) => {
    const undisturbed = await runWithLog(input);
    for (let commit = 0; commit < undisturbed.commits; commit++) {
      const resumed = await runWithLog(input, commit);
      expect(asStored(resumed.outcome), `after commit ${commit}`).toEqual(asStored(undisturbed.outcome));
      expect(asStored(resumed.seen), `seen after commit ${commit}`).toEqual(asStored(undisturbed.seen));
    }
  });

  it.each(cases)("goes on the same from what is kept of it: $name", async ({ input }) => {
    const undisturbed = await runWithLog(input, undefined, "kept");
    for (let commit = 0; commit < undisturbed.commits; commit++) {
      const resumed = await runWithLog(input, commit, "kept");
      expect(asStored(resumed), `after commit ${commit}`).toMatchObject({
        outcome: asStored(undisturbed.outcome),
        seen: asStored(undisturbed.seen),
        records: asStored(undisturbed.records),
      });
    }
    // Nothing is decided by what was forgotten.
    expect(asStored(undisturbed.records)).toEqual(asStored((await runWithLog(input)).records));
  });

  it.each(cases.filter(({ input }) => !input.lock && !input.existing_run && !input.no_runner))(
    "is the run that the in-memory driver makes: $name",
    async ({ input }) => {
      const { result } = await runLoop(input).catch((thrown) => ({ result: { threw: errorMessage(thrown) } }));
      expect(asStored((await runWithLog(input)).outcome)).toEqual(asStored(result));
    },
  );

  it("shows a mediator the results of its turn alone, also for a queued call that is taken before any answer", async () => {
    const search = { name: "ability/search", source: "abilities", description: "Searches." };
    const script: StoredScript = {
      messages: [{ role: "user", content: "go" }],
      options: { max_turns: 2, tool_declarations: { "ability/search": search } },
      turns: [{ tool_calls: [{ id: "c1", name: "ability/search" }] }, { tool_calls: [] }],
      executor: { "ability/search": { result: { ok: true } } },
      mediator: [],
      inbox: [
        { messages: [], calls: [] },
        { messages: [], calls: [{ name: "ability/search" }] },
      ],
    };
    const undisturbed = await runWithLog(script, undefined, "kept");
    const priorResults = (seen: unknown) =>
      (seen as { mediator_calls: { prior_tool_results: number }[] }).mediator_calls.map(
        (each) => each.prior_tool_results,
      );
    expect(priorResults(undisturbed.seen)).toEqual([0, 0]);
    for (let commit = 0; commit < undisturbed.commits; commit++) {
      const resumed = await runWithLog(script, commit, "kept");
      expect(asStored(resumed.seen), `after commit ${commit}`).toEqual(asStored(undisturbed.seen));
    }
  });

  it("is tried at hundreds of boundaries", async () => {
    let boundaries = 0;
    for (const { input } of cases) boundaries += (await runWithLog(input)).commits;
    expect(boundaries).toBeGreaterThan(300);
  });
});
