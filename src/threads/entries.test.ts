import { expect, it } from "vitest";
import { readEntry } from "./entries.ts";

it.each(["event", "pause", "resume", "retry"] as const)("a thread does not take in what is for a run: %s", (kind) => {
  expect(() => readEntry({ seq: 3, kind, body: "{}" })).toThrow(
    `for a run of a workflow, and not for a thread: "${kind}"`,
  );
});
