import { describe, expect, it } from "vitest";
import * as principal from "../trust/principal.ts";
import { chatRunContext } from "./run-context.ts";

const claim = { session_owner: { type: "Browser", key: " k " } };
const claimed = { type: "browser", key: "k" };

describe("whose a chat run is", () => {
  it("is the principal, or whom one claims to be that owns nothing", async () => {
    const nobody = principal.audience("audience:public", "writer");
    expect(await chatRunContext({ ...claim, principal: nobody })).toMatchObject({ owner: claimed });
    expect(await chatRunContext(claim)).toMatchObject({ owner: claimed });
    const somebody = principal.userSession(7, "writer");
    expect(await chatRunContext({ ...claim, principal: somebody })).toMatchObject({
      code: "agents_chat_run_owner_forbidden",
    });
  });

  it("is whoever is signed in where the principal is no record", async () => {
    const owner = { type: "user", key: "7" };
    for (const stated of ["x", 7, true, null]) {
      expect(await chatRunContext({ principal: stated }, { currentUserId: 7 })).toMatchObject({ owner });
    }
  });

  it("is claimed in session_owner alone, by type and key", async () => {
    expect(await chatRunContext({ client_context: claim })).toMatchObject({ owner: null });
    expect(await chatRunContext({ session_owner: { owner_type: "browser", owner_key: "k" } })).toMatchObject({
      code: "agents_chat_run_invalid_owner",
    });
    const prefixed = { session_owner: { type: "user", key: "user:7" } };
    expect(await chatRunContext(prefixed)).toMatchObject({ owner: { type: "user", key: "user:7" } });
    expect(await chatRunContext(prefixed, { currentUserId: 7 })).toMatchObject({
      code: "agents_chat_run_owner_forbidden",
    });
  });
});
