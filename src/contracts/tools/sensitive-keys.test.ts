import { expect, it } from "vitest";
import { isSensitiveKey } from "./sensitive-keys.ts";

it("finds a sensitive word anywhere in a key and in any case", () => {
  for (const key of ["X-API-Key", "sessionId", "session-id", "PRIVATE_KEY", "oauth_token_v2", "Set-Cookie"]) {
    expect(isSensitiveKey(key), key).toBe(true);
  }
});

it("takes only an underscore, a dash or nothing between the two words of a name", () => {
  for (const key of ["api key", "api__key", "session.id", "private/key"]) expect(isSensitiveKey(key), key).toBe(false);
});
