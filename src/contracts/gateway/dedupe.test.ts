import { describe, expect, it } from "vitest";
import { DEDUPE_TTL_MS, dedupeHash, isDuplicate, type KnownJob } from "./dedupe.ts";
import { jobStatuses } from "./job.ts";

const job = { key: "k", plugin: "fetch", command: "handle" };
const known = (fields: Partial<KnownJob>): KnownJob => ({ ...job, status: "succeeded", age_ms: 0, ...fields });

describe("the identity of a job", () => {
  it("scenario 35: is its key, plugin and command together", () => {
    const others = [
      { ...job, key: "l" },
      { ...job, plugin: "fetch2" },
      { ...job, command: "poll" },
    ];
    expect(new Set([job, ...others].map(dedupeHash)).size).toBe(4);
    expect(dedupeHash({ key: "a", plugin: "b", command: "cd" })).not.toBe(
      dedupeHash({ key: "a", plugin: "bc", command: "d" }),
    );
  });

  it("trims the key, and is none without one", () => {
    expect(dedupeHash({ ...job, key: " k\n" })).toBe(dedupeHash(job));
    for (const key of ["", "  ", null, undefined]) expect(dedupeHash({ ...job, key })).toBeUndefined();
  });
});

describe("a duplicate", () => {
  it("scenario 36: is blocked by a twin that is queued or runs or has succeeded, by no other", () => {
    const blocking = jobStatuses.filter((status) => isDuplicate(known({ status }), job));
    expect(blocking).toEqual(["queued", "running", "succeeded"]);
  });

  it("scenario 28: is blocked by a success for the whole window and no longer", () => {
    expect(isDuplicate(known({ age_ms: DEDUPE_TTL_MS }), job)).toBe(true);
    expect(isDuplicate(known({ age_ms: DEDUPE_TTL_MS + 1 }), job)).toBe(false);
    expect(isDuplicate(known({ age_ms: 61_000 }), job, 60_000)).toBe(false);
  });

  it("is blocked by an outstanding twin however old, unless both stem from one event", () => {
    expect(isDuplicate(known({ status: "queued", age_ms: 9 * DEDUPE_TTL_MS }), job)).toBe(true);
    expect(isDuplicate(known({ status: "queued", same_source_event: true }), job)).toBe(false);
  });

  it("has the same identity, and a key at all", () => {
    expect(isDuplicate(known({ plugin: "fabric" }), job)).toBe(false);
    expect(isDuplicate(known({ key: " " }), { ...job, key: " " })).toBe(false);
  });
});
