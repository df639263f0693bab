import { describe, expect, it } from "vitest";
import { redactPayload } from "./run-redaction.ts";

describe("what watchers see of a run", () => {
  it("hides whether anything was there at all", () => {
    expect(redactPayload({ output: null, token: "", raw: [], package: {} })).toEqual({
      output: "[redacted]",
      token: "[redacted]",
      raw: { redacted: true },
      package: { redacted: true },
    });
  });

  it("finds telling words anywhere in a key, however it is written", () => {
    const payload = { "x-API-Key": 1, private_key: 1, authToken: 1, drawer: 1, workflow_id: 1, Bearer: 1 };
    expect(new Set(Object.values(redactPayload(payload) as object))).toEqual(new Set(["[redacted]"]));
  });

  it("looks into lists of lists and leaves ids of runs and sessions alone", () => {
    expect(redactPayload([[{ session_id: "s", run_id: "r", cookie: 1 }]])).toEqual([
      [{ session_id: "s", run_id: "r", cookie: "[redacted]" }],
    ]);
  });

  it("leaves what it was given as it was", () => {
    const payload = { nested: { secret: "s" } };
    expect(redactPayload(payload)).toEqual({ nested: { secret: "[redacted]" } });
    expect(payload.nested.secret).toBe("s");
  });
});
