import { describe, expect, it } from "vitest";
import { fromArray } from "./principal.ts";
import { safeMetadata } from "./safe-principal.ts";

const principal = {
  ...{ acting_user_id: 7, effective_agent_id: "writer", auth_source: "user", request_context: "rest" },
  ...{ request_metadata: { cookie: "c" }, audience_claims: { claim: "c" }, binding: { key: "b" } },
  capability_ceiling: { user_id: 7, allowed_capabilities: ["read"] },
};

describe("safeMetadata", () => {
  it("says that there is a ceiling, and not which", () => {
    const shown = safeMetadata(principal);
    expect(shown).toMatchObject({ acting_user_id: 7, owner_type: "user", has_capability_ceiling: true });
    expect(Object.keys(shown)).not.toContain("capability_ceiling");
    expect(JSON.stringify(shown)).not.toMatch(/cookie|claim"|binding|allowed/);
  });

  it("gives the transcripts of a token to the token, not to its user", () => {
    const shown = safeMetadata({ ...principal, auth_source: "agent_token", token_id: 9 });
    expect(shown).toMatchObject({ owner_type: "token", has_conversation_owner: true });
    expect(shown).not.toHaveProperty("token_id");
  });

  it("needs both halves of a stated owner", () => {
    expect(safeMetadata({ acting_user_id: 0, owner_type: "browser" })).toMatchObject({ owner_type: null });
    const stated = { acting_user_id: 7, owner_type: "browser", owner_key: "opaque" };
    expect(safeMetadata(stated)).toMatchObject({ owner_type: "browser" });
    expect(JSON.stringify(safeMetadata(stated))).not.toContain("opaque");
  });

  it("reads nothing into what is missing", () => {
    expect(safeMetadata({})).toMatchObject({ acting_user_id: 0, effective_agent_id: null, owner_type: null });
  });

  it("leaves what is safe as it is, and believes nothing that only says so", () => {
    const shown = safeMetadata({ ...principal, owner_type: "browser", owner_key: "opaque" });
    expect(safeMetadata(shown)).toEqual(shown);
    expect(safeMetadata({ ...shown, token_id: 9 })).not.toHaveProperty("token_id");
    expect(JSON.stringify(safeMetadata({ ...shown, workspace_id: { cookie: "c" } }))).not.toContain("cookie");
  });

  it("shows of a full record what it shows of the fields that were given", () => {
    const given = { ...principal, workspace_id: 5, owner_type: "browser", owner_key: "opaque" };
    expect(safeMetadata(fromArray(given))).toEqual(safeMetadata(given));
  });
});
