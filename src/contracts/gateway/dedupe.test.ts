import { describe, expect, it } from "vitest";
import { dedupeIdentity } from "./dedupe.ts";

const job = { dedupe_key: "k", plugin: "fetch", command: "handle" };

describe("the identity of a job", () => {
  it("scenario 35: is its key, plugin and command together", () => {
    const others = [
      { ...job, dedupe_key: "l" },
      { ...job, dedupe_key: "K" },
      { ...job, plugin: "fetch2" },
      { ...job, command: "poll" },
    ];
    expect(new Set([job, ...others].map(dedupeIdentity)).size).toBe(5);
    expect(dedupeIdentity({ dedupe_key: "a", plugin: "b", command: "cd" })).not.toBe(
      dedupeIdentity({ dedupe_key: "a", plugin: "bc", command: "d" }),
    );
  });

  it("trims the key, and is none without one", () => {
    expect(dedupeIdentity({ ...job, dedupe_key: " k\n" })).toBe(dedupeIdentity(job));
    for (const dedupe_key of ["", "  ", null, undefined])
      expect(dedupeIdentity({ ...job, dedupe_key })).toBeUndefined();
  });
});
