import { describe, expect, it } from "vitest";
import { conversationOwner, fromInput } from "./conversation-owner.ts";
import * as principal from "./principal.ts";

const user = principal.userSession(7, "writer");
const visitor = principal.audience("audience:member", "writer", { owner_key: "Visitor 9" });

describe("the owner of conversations", () => {
  it("is the token and not its user, and a token without an id owns nothing", () => {
    const spoken = { acting_user_id: 7, effective_agent_id: "a", auth_source: "agent_token", request_context: "rest" };
    expect(conversationOwner(principal.agentToken(7, "writer", 31))).toEqual({ type: "token", key: "31" });
    expect(conversationOwner(principal.fromArray(spoken))).toBeNull();
  });

  it("is whoever is stated before the user, word for word", () => {
    const stated = { acting_user_id: 7, owner_type: " browser", owner_key: "K " };
    expect(conversationOwner(stated)).toEqual({ type: " browser", key: "K " });
    expect(conversationOwner({ ...stated, owner_key: " " })).toEqual({ type: "user", key: "7" });
  });

  it("is nobody for the system and for everybody", () => {
    expect(conversationOwner(principal.system("writer"))).toBeNull();
    expect(conversationOwner(principal.audience("audience:public", "writer"))).toBeNull();
  });
});

describe("an owner that a request names", () => {
  const claim = (session_owner: unknown, acting = user) => fromInput({ session_owner }, acting);
  const code = (suffix: string) => ({ code: `agents_conversation_session_${suffix}` });

  it("may only be the principal itself", () => {
    expect(claim({ type: "USER", key: "user:7" })).toEqual({ type: "user", key: "7" });
    expect(claim({ type: "audience", key: " Visitor 9 " }, visitor)).toEqual({ type: "audience", key: "Visitor 9" });
    expect(claim({ type: "user", key: "07" })).toMatchObject(code("user_owner_forbidden"));
    expect(claim({ type: "user", key: "user:user:7" })).toMatchObject(code("user_owner_forbidden"));
    expect(claim({ type: "audience", key: "visitor 9" }, visitor)).toMatchObject(code("owner_forbidden"));
    expect(claim({ type: "token", key: "31" }, principal.system("writer"))).toMatchObject(code("owner_forbidden"));
  });

  it("may never be everybody, whoever asks", () => {
    for (const key of ["public", "audience:public"]) {
      const shared = principal.audience("audience:public", "writer", { owner_key: key });
      expect(claim({ type: "Audience!", key }, shared)).toMatchObject(code("non_isolating_owner"));
    }
  });

  it("needs a type and a key", () => {
    for (const incomplete of [
      {},
      [],
      { type: "user" },
      { key: "7" },
      { type: "!", key: "7" },
      { type: "user", key: [] },
    ])
      expect(claim(incomplete)).toMatchObject(code("invalid_owner"));
  });

  it("is looked for in the client's context only where the request itself names none", () => {
    const client_context = { session_owner: { owner_type: "user", owner_key: 7 } };
    expect(fromInput({ client_context }, user)).toEqual({ type: "user", key: "7" });
    expect(fromInput({ session_owner: "user:8", client_context }, user)).toEqual({ type: "user", key: "7" });
    expect(fromInput({ session_owner: { type: "user", key: "8" }, client_context }, user)).toMatchObject(
      code("user_owner_forbidden"),
    );
    expect(fromInput({ session_owner: null, client_context: "x" }, user)).toBeNull();
  });
});
