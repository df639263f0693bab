import { expect, it, vi } from "vitest";
import { compact, finish, plan } from "./compaction.ts";
import { normalizePolicy } from "./compaction-policy.ts";
import * as message from "./message.ts";

const transcript = (length: number) =>
  message.normalizeMany(Array.from({ length }, (_, index) => ({ role: "user", content: `m${index}` })));
const six = transcript(6);
const policy = normalizePolicy({ enabled: true, max_messages: 4, recent_messages: 2 });
const call = message.toolCall({ tool_name: "ability/search", parameters: {}, turn: 1 });
const answer = message.toolResult({ content: "{}", tool_name: "ability/search", payload: {} });

function summarizePlan() {
  const planned = plan(six, policy);
  if (planned.kind !== "summarize") throw new Error("a summary was expected");
  return planned;
}

it("asks for a summary of what is old and puts it before what is recent", () => {
  const planned = summarizePlan();
  expect(planned.head).toEqual(six.slice(0, 4));
  const { messages, metadata, events } = finish(planned, six, policy, { returned: " So far. " });
  expect(messages.map(({ content }) => content)).toEqual(["Earlier conversation summary:\n\nSo far.", "m4", "m5"]);
  expect(metadata.compaction.status).toBe("compacted");
  expect(events.map(({ type }) => type)).toEqual(["compaction_started", "compaction_completed"]);
});

it("hands the same transcript back when there is nothing to do, and accounts for it only when asked", () => {
  const few = transcript(3);
  const planned = plan(few, policy);
  if (planned.kind !== "skip") throw new Error("a skip was expected");
  expect(planned.outcome.messages).toBe(few);
  expect(JSON.parse(JSON.stringify(planned.outcome.metadata))).toMatchObject({
    compaction: { status: "skipped", provenance: { original: { item_count: 3, byte_count: 6 } } },
  });
});

it("accounts for the transcript as it was planned, also when it has grown since", () => {
  const growing = [...transcript(2)];
  const planned = plan(growing, policy);
  growing.push(...transcript(2));
  expect(planned).toMatchObject({
    outcome: { metadata: { compaction: { provenance: { original: { item_count: 2 } } } } },
  });
});

it("skips a transcript that has no safe boundary", () => {
  expect(plan([call, answer, answer, answer, answer, answer], policy).kind).toBe("skip");
});

it.each([
  ["nothing", { returned: undefined }],
  ["a blank", { returned: { summary: "\n" } }],
  ["a map without a summary", { returned: { text: "s" } }],
  ["items that are not JSON", { returned: { summary: "s", archived_items: [1n] } }],
  ["an error", { threw: new Error("model down") }],
  ["something else thrown", { threw: "model down" }],
])("keeps the transcript when the summarizer gives %s", (_, attempt) => {
  const { messages, metadata, events } = finish(summarizePlan(), six, policy, attempt);
  expect(messages).toBe(six);
  expect(metadata.compaction).toMatchObject({ status: "failed", error: expect.any(String) });
  expect(events.map(({ type }) => type)).toEqual(["compaction_started", "compaction_failed"]);
});

it("archives the messages as they were given, without asking for a summary", async () => {
  const given = Array.from({ length: 6 }, (_, index) => ({ role: "user", content: `m${index}`, note: "mine" }));
  const summarizer = vi.fn();
  const limits = { overflow_archive_enabled: true, overflow_threshold_bytes: 50, overflow_retained_messages: 2 };
  const outcome = await compact(given, limits, summarizer);
  expect(outcome.archive_items).toEqual(given.slice(0, 4));
  expect(outcome.messages).toHaveLength(3);
  expect(outcome.metadata.compaction.status).toBe("archived");
  expect(summarizer).not.toHaveBeenCalled();
});

it("does not change what it is given and returns nothing that can change", async () => {
  const given = six.map(({ role, content }) => ({ role, content }));
  const before = JSON.stringify(given);
  const outcome = await compact(given, policy, async () => "s");
  expect(JSON.stringify(given)).toBe(before);
  for (const part of [outcome, outcome.messages, outcome.metadata.compaction, outcome.events, outcome.events[0]]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});
