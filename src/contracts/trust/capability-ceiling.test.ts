import { describe, expect, it } from "vitest";
import * as capabilityCeiling from "./capability-ceiling.ts";

describe("a capability ceiling", () => {
  it("tells no list from an empty one", () => {
    const open = capabilityCeiling.fromArray({ user_id: 7 });
    const shut = capabilityCeiling.fromArray({ user_id: 7, allowed_capabilities: [], denied_capabilities: [] });
    expect([open.allowed_capabilities, open.denied_capabilities]).toEqual([null, null]);
    expect([shut.allowed_capabilities, shut.denied_capabilities]).toEqual([[], []]);
    expect([open, shut].map((ceiling) => capabilityCeiling.allows(ceiling, "read"))).toEqual([true, false]);
  });

  it("does not trim its entries, so a padded one matches nothing", () => {
    const ceiling = capabilityCeiling.fromArray({ allowed_capabilities: [" read "] });
    expect(capabilityCeiling.allows(ceiling, "read")).toBe(false);
    expect(capabilityCeiling.allows(ceiling, " read ")).toBe(false);
  });

  it("leaves out of an allow list what is not a name, and refuses it in a deny list", () => {
    for (const odd of [[true], [null], [["read"]], "read", new Set(["read"]), { 0: "read" }]) {
      expect(capabilityCeiling.fromArray({ allowed_capabilities: odd }).allowed_capabilities).toEqual([]);
      expect(() => capabilityCeiling.fromArray({ denied_capabilities: odd })).toThrow(": denied_capabilities");
    }
  });

  it.each([
    ["user_id", { user_id: -1, allowed_capabilities: [""] }],
    ["allowed_capabilities", { allowed_capabilities: ["read", " \t"] }],
    ["denied_capabilities", { denied_capabilities: [""] }],
    ["metadata", { metadata: { big: 1n } }],
  ])("names %s when it is wrong: %o", (field, value) => {
    expect(() => capabilityCeiling.fromArray(value)).toThrow(`invalid_wp_agent_capability_ceiling: ${field}`);
  });

  it("refuses what is no ceiling or cannot be read as one", () => {
    const unreadable = {
      get user_id() {
        throw new Error("no");
      },
    };
    for (const value of ["read", null, ["read"], unreadable])
      expect(() => capabilityCeiling.fromArray(value)).toThrow("invalid_wp_agent_capability_ceiling: ");
  });

  it.each(["12abc", "", true, null, [7], 7.5, 2 ** 53, "9007199254740993", Number.NaN])(
    "takes %j for nobody, because it is not plainly a user's number",
    (user_id) => {
      expect(capabilityCeiling.fromArray({ user_id }).user_id).toBe(0);
    },
  );

  it("lets nothing pass that is not a name", () => {
    const ceiling = capabilityCeiling.fromArray({});
    for (const odd of [" ", "", null, 7, ["read"]]) expect(capabilityCeiling.allows(ceiling, odd)).toBe(false);
  });
});
