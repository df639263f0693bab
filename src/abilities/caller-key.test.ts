import fc from "fast-check";
import { expect, it } from "vitest";
import * as principals from "../contracts/trust/principal.ts";
import { callerKey, placeKey } from "./caller-key.ts";

it("tells every two callers apart, whatever they are called and whatever their keys are", () => {
  const name = fc.stringMatching(/^[ab:@/%]{1,4}$/);
  const caller = fc.record({ audience: name, owner: name, workspace: fc.option(name), key: name });
  const keyOf = ({
    audience,
    owner,
    workspace,
    key,
  }: { [Part in "audience" | "owner" | "key"]: string } & { workspace: string | null }) => {
    const principal = principals.audience(audience, "shop", { owner_key: owner, workspace_id: workspace });
    return `${callerKey(principal)}${placeKey(principal)}/${key}`;
  };
  fc.assert(
    fc.property(caller, caller, (one, other) => {
      expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
    { numRuns: 2_000 },
  );
});

it("leaves what is plain as it is, and knows nobody who owns nothing", () => {
  expect(callerKey(principals.userSession(7, "shop"))).toBe("user:7");
  expect(callerKey(principals.agentToken(7, "shop", 3))).toBe("token:3");
  expect(callerKey(principals.audience("public", "shop"))).toBeNull();
});
