import { describe, expect, it } from "vitest";
import * as consent from "./consent.ts";

const chatting = { mode: "chat" };

describe("the careful consent policy", () => {
  it("allows nothing but what was agreed to, operation by operation", () => {
    for (const agreed of consent.operations) {
      const context = { ...chatting, consent: { [agreed]: true } };
      const allowed = consent.operations.filter((operation) => consent.decide(operation, context).allowed);
      expect(allowed).toEqual([agreed]);
    }
  });

  it("denies whatever was agreed to when nobody is there", () => {
    for (const context of [{}, { mode: "cron" }, { interactive: "true" }, { mode: "", context: "batch" }]) {
      const decided = consent.decide("store_memory", { ...context, store_memory: true });
      expect(decided).toMatchObject({ allowed: false, reason: "non_interactive_default_denied" });
    }
  });

  it("lets the first field that says anything decide what kind of request it is", () => {
    const yes = { store_memory: true };
    expect(consent.decide("store_memory", { ...yes, mode: "cron", context: "chat" }).allowed).toBe(false);
    expect(consent.decide("store_memory", { ...yes, mode: "", request_kind: "REST" }).allowed).toBe(true);
    expect(consent.decide("store_memory", { ...yes, mode: ["chat"], request_context: "interactive" }).allowed).toBe(
      true,
    );
    expect(consent.decide("store_memory", { request_context: "Rest" }).audit_metadata).toMatchObject({ mode: "Rest" });
  });

  it("takes nothing but a boolean for an answer, and silence for a no", () => {
    for (const said of [1, "true", "yes", {}, null, undefined]) {
      expect(consent.decide("use_memory", { ...chatting, use_memory: said }).allowed).toBe(false);
      expect(consent.decide("use_memory", { ...chatting, consent: { use_memory: said } }).allowed).toBe(false);
    }
    expect(consent.decide("use_memory", { ...chatting, use_memory: "no", consent: { use_memory: true } }).allowed).toBe(
      true,
    );
    expect(
      consent.decide("use_memory", { ...chatting, use_memory: false, consent: { use_memory: true } }).allowed,
    ).toBe(false);
  });

  it("reads the name of an operation as it is normalised everywhere, and allows none that nobody knows", () => {
    const spelt = " Store_Memory " as consent.ConsentOperation;
    expect(consent.decide(spelt, { ...chatting, consent: { store_memory: true } })).toMatchObject({
      allowed: true,
      operation: "store_memory",
    });
    const unknown = "delete_all" as consent.ConsentOperation;
    for (const context of [
      { delete_all: true },
      { consent: { delete_all: true } },
      { "": true, consent: { "": true } },
    ]) {
      expect(consent.decide(unknown, { ...chatting, ...context })).toMatchObject({
        allowed: false,
        operation: "",
      });
    }
  });

  it("finds no consent in what an object inherits", () => {
    const inherited = Object.create({ use_memory: true }) as Record<string, unknown>;
    expect(consent.decide("use_memory", { ...chatting, consent: inherited }).allowed).toBe(false);
  });
});

describe("a consent decision", () => {
  it("spells its reason and the names of its metadata for programs, the last of two alike winning", () => {
    const made = consent.decision({
      allowed: false,
      operation: " Use_Memory ",
      reason: "-No Way!-",
      audit_metadata: { "A b": 1, a_b: 2, list: [{ "X y": true }], "\u212A": 3 },
    });
    expect(made).toEqual({
      allowed: false,
      operation: "use_memory",
      reason: "no_way",
      audit_metadata: { a_b: 2, list: [{ x_y: true }], "": 3 },
    });
    expect(Object.isFrozen(made.audit_metadata)).toBe(true);
  });

  it("names an operation that nobody knows with nothing, and none by what looks like its name", () => {
    expect(consent.decision({ allowed: true, operation: "zap" }).operation).toBe("");
    expect(consent.normalizeOperation("use_memory\u00a0")).toBeNull();
    expect(consent.normalizeOperation("u\u017fe_memory", "constructor")).toBeNull();
    expect(consent.normalizeOperation(["use_memory"], " STORE_MEMORY ")).toBe("store_memory");
  });
});
