import { expect, it } from "vitest";
import { normalizePolicy } from "./compaction-policy.ts";

it("keeps fields it does not know and completes itself only once", () => {
  const policy = normalizePolicy({ max_messages: 20, tenant: { id: 7 } });
  expect(policy).toMatchObject({ tenant: { id: 7 }, max_messages: 20, recent_messages: 12, enabled: false });
  expect(normalizePolicy(policy)).toEqual(policy);
});

it("keeps fewer recent messages than the limit, so that a compacted transcript is not at once due again", () => {
  expect(normalizePolicy({ max_messages: 8 }).recent_messages).toBe(7);
  expect(normalizePolicy({ max_messages: 0, recent_messages: 0 })).toMatchObject({
    max_messages: 1,
    recent_messages: 1,
  });
});

it("takes the default for a value of the wrong kind and zero for a text that is no number", () => {
  expect(normalizePolicy({ max_messages: null, summary_role: 5, minimum_conserved_byte_ratio: [] })).toMatchObject({
    max_messages: 40,
    summary_role: "system",
    minimum_conserved_byte_ratio: 1,
  });
  expect(normalizePolicy({ minimum_conserved_byte_ratio: "most", max_messages: Number.NaN })).toMatchObject({
    minimum_conserved_byte_ratio: 0,
    max_messages: 40,
  });
});

it("takes a null for a switch that is off, and for a number or a text that is not given", () => {
  const switches = [
    "enabled",
    "preserve_tool_boundaries",
    "conservation_enabled",
    "fail_on_conservation_failure",
    "overflow_archive_enabled",
  ];
  const policy = normalizePolicy(Object.fromEntries(switches.map((name) => [name, null])));
  expect(switches.map((name) => policy[name])).toEqual([false, false, false, false, false]);
  const { preserve_tool_boundaries, recent_messages, summary_prefix } = normalizePolicy({
    preserve_tool_boundaries: undefined,
    recent_messages: null,
    summary_prefix: null,
  });
  expect([preserve_tool_boundaries, recent_messages]).toEqual([true, 12]);
  expect(summary_prefix).toBe("Earlier conversation summary:");
});

it("is the default policy for anything that is not a map", () => {
  for (const value of [undefined, null, "on", [1]]) expect(normalizePolicy(value)).toEqual(normalizePolicy({}));
});

it("shares nothing that can change with what it was given", () => {
  const pointer = { uri: "archive://1" };
  const policy = normalizePolicy({ overflow_archive_pointer: pointer });
  pointer.uri = "elsewhere";
  expect(policy.overflow_archive_pointer).toEqual({ uri: "archive://1" });
  expect(Object.isFrozen(policy)).toBe(true);
});
