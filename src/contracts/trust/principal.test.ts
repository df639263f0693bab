import { describe, expect, it } from "vitest";
import * as callerContext from "./caller-context.ts";
import * as principal from "./principal.ts";

const valid = { acting_user_id: 7, effective_agent_id: "writer", auth_source: "user", request_context: "rest" };

describe("an execution principal", () => {
  it("always has its fifteen fields, in the order of the contract", () => {
    expect(Object.keys(principal.fromArray(valid))).toEqual([
      ...["acting_user_id", "effective_agent_id", "auth_source", "request_context", "token_id", "request_metadata"],
      ...["workspace_id", "client_id", "capability_ceiling", "caller_context", "audience_id", "audience_claims"],
      ...["owner_type", "owner_key", "binding"],
    ]);
  });

  it("is frozen through and through, and stays itself when it is read again", () => {
    const metadata = { headers: { host: "a" } };
    const made = principal.fromArray({ ...valid, request_metadata: metadata });
    metadata.headers.host = "b";
    expect(made.request_metadata).toEqual({ headers: { host: "a" } });
    expect(Object.isFrozen(made) && Object.isFrozen(made.request_metadata.headers)).toBe(true);
    expect(principal.fromArray(made)).toBe(made);
    expect(principal.resolve(made)).toBe(made);
    expect(principal.fromArray({ ...made, extra: 1 })).toEqual(made);
  });

  // Each record is also wrong in the field that is looked at next, so that the order shows.
  it.each([
    ["acting_user_id", { acting_user_id: -1, effective_agent_id: "" }],
    ["effective_agent_id", { effective_agent_id: ["x"], auth_source: "" }],
    ["auth_source", { auth_source: "User", request_context: "" }],
    ["request_context", { request_context: null, token_id: 0 }],
    ["token_id", { token_id: "5x", audience_id: " " }],
    ["audience_id", { audience_id: {}, request_metadata: { big: 1n } }],
    ["request_metadata", { request_metadata: { not: Number.NaN }, audience_claims: { big: 1n } }],
    ["audience_claims", { audience_claims: { far: [Number.POSITIVE_INFINITY] }, binding: { big: 1n } }],
    ["binding", { binding: { big: 1n }, owner_type: "browser" }],
    ["owner needs", { owner_key: "k" }],
    ["owner_type", { owner_type: " ", owner_key: " " }],
    ["owner_key", { owner_type: "browser", owner_key: "\t" }],
  ])("names %s when it is the first that is wrong: %o", (field, wrong) => {
    const given = { ...valid, ...wrong };
    expect(() => principal.fromArray(given)).toThrow(`invalid_agent_execution_principal: ${field}`);
  });

  it("tells what is wrong in a ceiling or a caller before anything else, the ceiling first", () => {
    const both = { capability_ceiling: { user_id: -1 }, caller_context: {}, acting_user_id: -1 };
    expect(() => principal.fromArray(both)).toThrow("invalid_wp_agent_capability_ceiling: user_id");
    expect(() => principal.fromArray({ ...both, capability_ceiling: null })).toThrow("invalid_agent_caller_context: ");
    // Not ignored like a word would be: a list was meant as a ceiling, and without one everything is allowed.
    expect(() => principal.fromArray({ ...valid, capability_ceiling: ["read"] })).toThrow("invalid_wp_agent");
  });

  it("keeps a scope of the wrong kind apart from none", () => {
    const made = principal.fromArray({ ...valid, workspace_id: ["w"], client_id: 5 });
    expect([made.workspace_id, made.client_id]).toEqual(["", "5"]);
    expect(principal.fromArray({ ...valid, workspace_id: null }).workspace_id).toBeNull();
  });

  it("accepts the ways to authenticate that a host knows, and none where it knows none", () => {
    const oauth = { ...valid, auth_source: "oauth" };
    expect(principal.fromArray(oauth, [...principal.knownAuthSources, "oauth"]).auth_source).toBe("oauth");
    expect(() => principal.fromArray(valid, "user")).toThrow(": auth_source");
    expect(principal.isKnownAuthSource("user", { 0: "user" })).toBe(false);
  });

  it("refuses what a resolver must not answer", () => {
    for (const answer of [false, 0, "", "bob", true])
      expect(() => principal.resolve(answer)).toThrow("invalid_agent_execution_principal: principal");
    expect(principal.resolve(undefined)).toBeNull();
    const unreadable = {
      get acting_user_id() {
        throw new Error("no");
      },
    };
    expect(() => principal.resolve(unreadable)).toThrow("invalid_agent_execution_principal: the record");
  });
});

describe("the constructors of principals", () => {
  it("let a scope say where, but not who", () => {
    const claimed = { ...valid, token_id: 3, owner_type: "user", owner_key: "1", audience_id: "a", binding: { k: 1 } };
    const made = principal.userSession(4, "reader", { ...claimed, request_context: "chat", workspace_id: "w" });
    expect(made).toEqual(
      principal.fromArray({
        ...{ acting_user_id: 4, effective_agent_id: "reader", auth_source: "user" },
        ...{ request_context: "chat", workspace_id: "w" },
      }),
    );
    expect(principal.audience("aud", "reader", { ...claimed, owner_key: undefined }).owner_type).toBeNull();
  });

  it("make the program itself a principal that acts for nobody", () => {
    expect(principal.system("writer", { workspace_id: "w" })).toMatchObject({
      ...{ acting_user_id: 0, effective_agent_id: "writer", auth_source: "system", request_context: "runtime" },
      workspace_id: "w",
    });
  });

  it("are the same behind another chain of callers, and as good as read", () => {
    const holder = principal.agentToken(4, "writer", 9, { workspace_id: "w" });
    const chain = callerContext.fromArray({ chain_root_request_id: "r" });
    const called = principal.calledBy(holder, chain);
    expect(called).toEqual({ ...holder, caller_context: chain });
    expect(Object.isFrozen(called)).toBe(true);
    expect(principal.fromArray(called)).toBe(called);
    const wrong = { ...chain, chain_depth: 3 };
    expect(() => principal.calledBy(holder, wrong)).toThrow("invalid_agent_caller_context");
  });

  it("refuse a token without an id and an owner without a key", () => {
    expect(() => principal.agentToken(4, "writer", 0)).toThrow(": token_id");
    expect(() => principal.agentToken(4, "writer", undefined as never)).toThrow(": token_id");
    expect(() => principal.audience("aud", "writer", { owner_key: "" })).toThrow(": owner_key");
  });
});
