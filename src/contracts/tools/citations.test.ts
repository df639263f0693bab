import { describe, expect, it } from "vitest";
import { safeMetadata } from "../trust/safe-principal.ts";
import * as citations from "./citations.ts";
import * as toolResult from "./result.ts";

describe("citations", () => {
  it("keeps a host's own fields first, then the known ones, and the score last", () => {
    const [citation] = citations.normalize([{ score: "0.5", source: " kb ", access_status: "denied" }]);
    expect(Object.entries(citation ?? {})).toEqual([
      ["access_status", "denied"],
      ["source", "kb"],
      ["score", 0.5],
    ]);
  });

  it("takes numbers as text but not booleans, and no boolean as a score", () => {
    expect(citations.normalize([{ source_id: 5, source: true, score: true }])).toEqual([{ source_id: "5" }]);
  });

  it("reads a map of citations as no list", () => {
    expect(citations.normalize({ a: { source: "s" } })).toEqual([]);
  });

  it("gives the same again when normalised twice", () => {
    const once = citations.normalize([{ source: " a ", score: "1e2", custom: { nested: [1] } }]);
    expect(citations.normalize(once)).toEqual(once);
  });

  it("shares nothing mutable with its input and changes nothing in it", () => {
    const given = { citations: [{ source: " a ", custom: { nested: [1] } }] };
    const metadata = citations.normalizeMetadata(given);
    expect(given.citations[0]?.source).toBe(" a ");
    given.citations[0]?.custom.nested.push(2);
    expect(metadata).toEqual({ citations: [{ source: "a", custom: { nested: [1] } }] });
    expect(Object.isFrozen(metadata.citations)).toBe(true);
  });
});

describe("access to what is cited", () => {
  const unsafe = {
    ...{ token_id: 314159, request_metadata: { ip: "314159" }, audience_claims: { tier: "314159" } },
    ...{ owner_type: "browser", owner_key: "314159", binding: { jkt: "314159" } },
    capability_ceiling: { user_id: 7, allowed_capabilities: ["314159"] },
    caller_context: { chain_root_request_id: "314159" },
  };
  const record = {
    ...{ acting_user_id: 7, effective_agent_id: "writer", auth_source: "user", request_context: "rest" },
    ...unsafe,
  };

  it("is told in four words, and in none that are not among them", () => {
    const told = (access_status: unknown) => citations.normalize([{ source: "kb", access_status }])[0]?.access_status;
    expect(["allowed", " denied ", "partial", "source_restricted"].map(told)).toEqual([
      ...["allowed", "denied", "partial", "source_restricted"],
    ]);
    for (const odd of ["secret", "Allowed", "", true, ["allowed"], null]) expect(told(odd)).toBeUndefined();
    expect(citations.normalize([{ access_status: "perhaps" }])).toEqual([]);
    expect(citations.normalize([{ source: "kb", restriction_reason: { token_id: 1 } }])).toEqual([{ source: "kb" }]);
  });

  it("shows of a principal in a tool's result what may be shown, wherever it was put", () => {
    const cited = [
      { source: "kb", access_status: "denied", principal: record },
      { source: "kb", custom: { by: [record], principal: record } },
      { source: "kb", ...unsafe, Cookies: "314159", "api-key": "314159", nonce: "314159", credentials: ["314159"] },
      { source: "kb", principal: "token:314159" },
    ];
    const result = toolResult.normalize({
      tool_name: "kb/search",
      result: {},
      success: true,
      metadata: { citations: cited },
    });
    expect(JSON.stringify(result)).not.toContain("314159");
    expect(result.metadata).toMatchObject({
      citations: [
        { access_status: "denied", principal: safeMetadata(record) },
        { custom: { principal: { has_capability_ceiling: true, owner_type: "browser" } } },
        { source: "kb" },
        { source: "kb" },
      ],
    });
  });

  it("leaves a principal that is safe already as it is, however often it is normalised", () => {
    const principal = safeMetadata(record);
    const once = citations.normalize([{ source: "kb", principal, tokens: 12, capability: "read" }]);
    expect(once).toEqual([{ source: "kb", principal, tokens: 12, capability: "read" }]);
    expect(citations.normalize(once)).toEqual(once);
  });
});
