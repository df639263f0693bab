import { expect, it } from "vitest";
import { withoutKeys } from "./without-keys.ts";

it.each([
  "sk-proj-ABCDEFGHIJKLMNOP12345678",
  "fw_3ZabcdEFGHijklMNOPqrstuv",
  "nvapi-Ab1-cdEf-ghIJ-klmn-opqr",
  "AIzaSyA1234567890abcdefghijk",
  "Bearer abc.def",
  "Basic dXNlcjpwYXNzd29yZA==",
  "eyJhbGciOi.eyJzdWIi.sig-nat",
  "0123456789abcdef0123456789abcdef",
])("takes a key out of what a provider says: %s", (key) => {
  expect(withoutKeys(`Invalid key: ${key} (see your account)`)).toBe("Invalid key: [redacted] (see your account)");
});

it("takes keys and passwords out of an address, and leaves the address", () => {
  expect(withoutKeys("GET https://ana:hunter2@host/v1?api-key=Abcdef123456&x=1 failed")).toBe(
    "GET https://[redacted]@host/v1?api-key=[redacted]&x=1 failed",
  );
});

it("leaves words alone", () => {
  const words = "The model gpt-5-mini-2026-01-01 is overloaded; ask again in 30 seconds (request req_1).";
  expect(withoutKeys(words)).toBe(words);
});
