import { expect, it } from "vitest";
import * as principal from "../contracts/trust/principal.ts";
import { claimRefusal } from "./claim-refusal.ts";

const forbidden = { code: "agents_chat_run_owner_forbidden" };

it("lets a caller claim nobody but itself, wherever the claim stands", () => {
  const user = principal.userSession(7, "writer");
  const nobody = principal.audience("audience:public", "writer");
  const own = { session_owner: { type: "user", key: "7" } };
  expect(claimRefusal({}, nobody)).toBeUndefined();
  expect(claimRefusal(own, user)).toBeUndefined();
  expect(claimRefusal({ client_context: own }, user)).toBeUndefined();
  expect(claimRefusal({ session_owner: { type: "user", key: "8" } }, user)).toMatchObject(forbidden);
  for (const claim of [own, { client_context: own }]) expect(claimRefusal(claim, nobody)).toMatchObject(forbidden);
});
