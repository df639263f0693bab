import { expect, it } from "vitest";
import { text } from "../canonical-json.ts";
import { findOverflow } from "./compaction-overflow.ts";
import { normalizePolicy } from "./compaction-policy.ts";
import * as message from "./message.ts";

const messages = message.normalizeMany(["one", "two", "three", "four"].map((content) => ({ role: "user", content })));
const call = message.toolCall({ tool_name: "ability/search", parameters: {}, turn: 1 });
const answer = message.toolResult({ content: "{}", tool_name: "ability/search", payload: {} });
const archiving = (more: object) =>
  normalizePolicy({
    overflow_archive_enabled: true,
    overflow_threshold_bytes: 10,
    overflow_retained_messages: 2,
    ...more,
  });

it("leaves a transcript alone that is exactly as long as the threshold", () => {
  const size = text(messages).length;
  expect(findOverflow(messages, messages, archiving({ overflow_threshold_bytes: size }))).toBeUndefined();
  expect(findOverflow(messages, messages, archiving({ overflow_threshold_bytes: size - 1 }))).toMatchObject({
    kind: "split",
    details: { total_bytes: size },
  });
});

it("retains fewer messages until they fit, but always one", () => {
  const twoBytes = text(messages.slice(2)).length;
  expect(findOverflow(messages, messages, archiving({ overflow_retained_bytes: twoBytes }))).toMatchObject({ cut: 2 });
  expect(findOverflow(messages, messages, archiving({ overflow_retained_bytes: twoBytes - 1 }))).toMatchObject({
    cut: 3,
  });
  expect(findOverflow(messages, messages, archiving({ overflow_retained_bytes: 1 }))).toMatchObject({ cut: 3 });
});

it("measures what was given against the threshold, and the envelopes that stay against what may be retained", () => {
  const given = Array.from({ length: 6 }, (_, index) => ({ role: "user", content: `Message ${index}` }));
  const policy = archiving({
    overflow_threshold_bytes: 50,
    overflow_retained_messages: 4,
    overflow_retained_bytes: 200,
  });
  const overflow = findOverflow(message.normalizeMany(given), given, policy);
  expect(overflow?.details).toMatchObject({ total_bytes: text(given).length, boundary: { retain_from: 5 } });
});

it("gives the same messages the same archive", () => {
  const first = findOverflow(messages, messages, archiving({}));
  const again = findOverflow(messages, JSON.parse(JSON.stringify(messages)), archiving({}));
  expect(again?.details.archive_id).toBe(first?.details.archive_id);
});

it("says so when a cut would part a call from its result", () => {
  const inseparable = [call, answer, answer];
  expect(findOverflow(inseparable, inseparable, archiving({}))).toMatchObject({
    kind: "unsplittable",
    details: { reason: "overflow_input_unsplittable", total_messages: 3 },
  });
});
