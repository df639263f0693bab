import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as callerContext from "./caller-context.ts";

const chained = {
  ...{ "X-Agents-Api-Caller-Agent": "bot", "X-Agents-Api-Caller-User": "1" },
  ...{ "X-Agents-Api-Caller-Host": "https://h.example", "X-Agents-Api-Chain-Depth": "2" },
  "X-Agents-Api-Chain-Root": "r",
};
const parsed = {
  ...{ caller_agent_id: "bot", caller_user_id: 1, caller_host: "https://h.example", chain_depth: 2 },
  ...{ chain_root_request_id: "r", metadata: {} },
};

describe("the headers of a caller", () => {
  it("are read from a map, from Headers and from a Map alike", () => {
    const lowered = Object.fromEntries(Object.entries(chained).map(([name, value]) => [name.toLowerCase(), value]));
    for (const source of [chained, lowered, new Headers(chained), new Map(Object.entries(chained))])
      expect(callerContext.fromHeaders(source)).toEqual(parsed);
  });

  it("name a request at the top of a chain anew each time", () => {
    const [first, second] = [callerContext.fromHeaders({}), callerContext.fromHeaders(null)];
    expect(first).toMatchObject({ caller_host: "self", chain_depth: 0 });
    expect(first.chain_root_request_id).not.toBe("");
    expect(first.chain_root_request_id).not.toBe(second.chain_root_request_id);
  });

  it("take the word self for the top of a chain, and nowhere else", () => {
    const top = { "X-Agents-Api-Caller-Host": " self ", "X-Agents-Api-Chain-Root": "r" };
    expect(callerContext.fromHeaders(top)).toMatchObject({ caller_host: "self", chain_root_request_id: "r" });
    for (const host of ["SELF", "https://h.example"]) {
      const named = { ...top, "X-Agents-Api-Caller-Host": host };
      expect(() => callerContext.fromHeaders(named)).toThrow("invalid_agent_caller_context: chain_depth");
    }
  });

  // Each is also wrong in what is looked at next, so that the order shows.
  it.each([
    ["caller_user_id", { "X-Agents-Api-Caller-User": "+1", "X-Agents-Api-Chain-Depth": "x" }],
    ["caller_user_id", { "X-Agents-Api-Caller-User": "9007199254740993" }],
    ["chain_depth", { "X-Agents-Api-Chain-Depth": "1e1", "X-Agents-Api-Caller-Agent": "" }],
    ["chain_depth", { "X-Agents-Api-Chain-Depth": "\u0661" }],
    ["chain_depth", { "X-Agents-Api-Chain-Depth": "17", "X-Agents-Api-Caller-Agent": "" }],
    ["caller_agent_id", { "X-Agents-Api-Caller-Agent": " ", "X-Agents-Api-Caller-Host": "" }],
    ["caller_host", { "X-Agents-Api-Caller-Host": "self", "X-Agents-Api-Chain-Root": "" }],
    ["chain_root_request_id", { "X-Agents-Api-Chain-Root": "", "X-Agents-Api-Caller-Host": "nowhere" }],
    ["caller_host", { "X-Agents-Api-Caller-Host": "ftp://h.example" }],
    ["caller_host", { "X-Agents-Api-Caller-Host": "https:h.example" }],
    ["caller_host", { "X-Agents-Api-Caller-Host": "https://" }],
    ["caller_host", { "X-Agents-Api-Caller-Host": "https:///path" }],
    ["caller_host", { "X-Agents-Api-Caller-Host": "https://h.exa\nmple" }],
  ])("are refused for %s when it is the first that is wrong: %o", (field, wrong) => {
    const headers = { ...chained, ...wrong };
    expect(() => callerContext.fromHeaders(headers)).toThrow(`invalid_agent_caller_context: ${field}`);
  });

  it("are not believed at the top of a chain", () => {
    for (const named of [{ "X-Agents-Api-Caller-User": "1" }, { "X-Agents-Api-Caller-Agent": "bot" }])
      expect(() => callerContext.fromHeaders(named)).toThrow(": chain_depth");
  });

  it("are held to the depth that a host allows, which may be none", () => {
    expect(callerContext.fromHeaders(chained, 2).chain_depth).toBe(2);
    expect(() => callerContext.fromHeaders(chained, 1)).toThrow(": chain_depth");
    expect(callerContext.fromHeaders({}, 0).chain_depth).toBe(0);
    for (const odd of [-1, Number.NaN]) expect(() => callerContext.fromHeaders({}, odd)).toThrow(": max_chain_depth");
  });

  it("are not taken for absent when the source cannot be read", () => {
    for (const source of ["X-Agents-Api-Chain-Depth: 2", 7, true])
      expect(() => callerContext.fromHeaders(source)).toThrow("invalid_agent_caller_context: ");
  });

  it("parse back, whatever chain they were written from", () => {
    const text = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/);
    const contexts = fc.oneof(
      fc.record({
        ...{ caller_agent_id: text, caller_user_id: fc.maxSafeNat(), caller_host: fc.webUrl() },
        ...{ chain_depth: fc.integer({ min: 1, max: 16 }), chain_root_request_id: text },
      }),
      fc.record({ chain_root_request_id: text }),
    );
    fc.assert(
      fc.property(contexts, (given) => {
        const context = callerContext.fromArray(given);
        expect(callerContext.fromHeaders(callerContext.toHeaders(context))).toEqual(context);
        expect(callerContext.fromHeaders(new Headers(callerContext.toHeaders(context)))).toEqual(context);
      }),
    );
  });
});

describe("the record of a caller", () => {
  it("knows no limit of depth, and needs no agent below the top", () => {
    const deep = { caller_host: "http://h.example", chain_depth: 400, chain_root_request_id: "r" };
    expect(callerContext.fromArray(deep)).toMatchObject({ caller_agent_id: "", chain_depth: 400 });
  });

  it.each([
    ["caller_user_id", { caller_user_id: -1, caller_host: "" }],
    ["caller_host", { caller_host: ["self"], chain_depth: -1 }],
    ["chain_depth", { chain_depth: -1, chain_root_request_id: "" }],
    ["chain_root_request_id", { chain_root_request_id: [], caller_user_id: 3 }],
    ["chain_depth", { caller_user_id: 3, metadata: { big: 1n } }],
    ["caller_host", { chain_depth: 1, metadata: { big: 1n } }],
    ["metadata", { metadata: [Number.NaN] }],
  ])("is refused for %s when it is the first that is wrong: %o", (field, wrong) => {
    const given = { chain_root_request_id: "r", ...wrong };
    expect(() => callerContext.fromArray(given)).toThrow(`invalid_agent_caller_context: ${field}`);
  });

  it("keeps metadata as map or list, and sends none of it", () => {
    const made = callerContext.fromArray({ chain_root_request_id: "r", metadata: ["a", { secret: 1 }] });
    expect(made.metadata).toEqual(["a", { secret: 1 }]);
    expect(JSON.stringify(callerContext.toHeaders(made))).not.toContain("secret");
    expect(callerContext.fromArray({ chain_root_request_id: "r", metadata: "x" }).metadata).toEqual({});
  });
});
