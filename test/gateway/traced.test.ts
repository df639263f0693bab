// Promise: the jobs of one tree are one trace, and none of what they hold is in it.
import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { everythingTold, recordSpans } from "../recorded-spans.ts";
import { api, openGateway, permanently, plugin } from "./gateway-world.ts";

const SECRET = "a-private-matter";

it("every attempt of a job is a span, with its pipeline and what came of it, and a tree is one trace", async () => {
  const spans = recordSpans();
  const reader = plugin("reader", () => SECRET);
  const writer = plugin("writer", () => {
    throw permanently(SECRET);
  });
  const steps = [
    { id: "read", uses: "reader" },
    { id: "write", uses: "writer" },
  ];
  const { gateway, endedTree } = await openGateway({
    plugins: [reader, writer],
    config: { pipelines: [{ name: "mail", on: "mail", steps }] },
  });
  const trees = [];
  for (let count = 0; count < 2; count++) {
    const { job_ids } = await gateway.emit({ type: "mail", payload: { text: SECRET } }, api);
    trees.push(await endedTree(job_ids[0]));
  }
  // A span ends after the commit of its job.
  await eventually(() => expect(spans.ended()).toHaveLength(4));
  const ended = spans.ended();
  expect(ended.map(({ name }) => name)).toEqual([
    ...["job reader.handle", "job writer.handle", "job reader.handle", "job writer.handle"],
  ]);
  const [read, write] = trees[0] ?? [];
  const common = { "holdfast.job.root_id": read?.id, "holdfast.job.command": "handle", "holdfast.attempt": 1 };
  expect(ended[0]?.attributes).toEqual({
    ...{ ...common, "holdfast.job.id": read?.id, "holdfast.job.plugin": "reader" },
    ...{ "holdfast.job.pipeline": "mail", "holdfast.job.step": "read", "holdfast.outcome": "succeeded" },
  });
  expect(ended[1]?.attributes).toEqual({
    ...{ ...common, "holdfast.job.id": write?.id, "holdfast.job.plugin": "writer" },
    ...{ "holdfast.job.pipeline": "mail", "holdfast.job.step": "write", "holdfast.outcome": "failed" },
    "error.type": write?.reason,
  });
  const traces = ended.map((span) => span.spanContext().traceId);
  expect(traces[0]).toBe(traces[1]);
  expect(traces[2]).toBe(traces[3]);
  expect(traces[0]).not.toBe(traces[2]);
  expect(everythingTold(ended)).not.toContain(SECRET);
});
