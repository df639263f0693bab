import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isSigned, signedBytes } from "./webhook-signed.ts";

const body = new TextEncoder().encode('{"a":1}');
const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const mac = (signed: string, key: string | Buffer, form: "hex" | "base64") =>
  createHmac("sha256", key).update(signed).digest(form);

describe("what a signature covers", () => {
  it("is the body, or what the headers say in front of it", () => {
    const parts = { body, timestamp: "17", id: "m1" };
    expect(text(signedBytes("body", parts))).toBe('{"a":1}');
    expect(text(signedBytes("timestamp.body", parts))).toBe('17.{"a":1}');
    expect(text(signedBytes("id.timestamp.body", parts))).toBe('m1.17.{"a":1}');
  });

  it("is nothing where a header is missing that belongs to it", () => {
    expect(signedBytes("timestamp.body", { body, timestamp: undefined, id: "m1" })).toBeUndefined();
    expect(signedBytes("timestamp.body", { body, timestamp: "", id: "m1" })).toBeUndefined();
    expect(signedBytes("id.timestamp.body", { body, timestamp: "17", id: undefined })).toBeUndefined();
    expect(text(signedBytes("body", { body, timestamp: undefined, id: undefined }))).toBe('{"a":1}');
  });
});

describe("a signature", () => {
  const bytes = new TextEncoder().encode("signed");
  const key = Buffer.from("0123456789abcdef0123456789abcdef");
  const whsec = `whsec_${key.toString("base64")}`;

  it("is hexadecimal digits, with sha256= or without, whatever it covers", () => {
    for (const kind of ["body", "timestamp.body", "id.timestamp.body"] as const) {
      const digits = mac("signed", "secret", "hex");
      for (const header of [digits, `sha256=${digits}`]) expect(isSigned(kind, bytes, header, "secret")).toBe(true);
      expect(isSigned(kind, bytes, digits, "other")).toBe(false);
      expect(isSigned(kind, bytes, "", "secret")).toBe(false);
    }
  });

  it("is one of a list in the scheme of Standard Webhooks, with a key in base64 or a text as the secret", () => {
    const [decoded, plain] = [mac("signed", key, "base64"), mac("signed", "secret", "base64")];
    const kind = "id.timestamp.body";
    expect(isSigned(kind, bytes, `v1,${decoded}`, whsec)).toBe(true);
    expect(isSigned(kind, bytes, `v1a,xyz v1,${plain} v1,${decoded}`, whsec)).toBe(true);
    expect(isSigned(kind, bytes, `v1,${plain}`, "secret")).toBe(true);
    expect(isSigned(kind, bytes, `v1,${plain}`, whsec)).toBe(false);
    expect(isSigned(kind, bytes, `v2,${decoded}`, whsec)).toBe(false);
    expect(isSigned(kind, bytes, `v1,${decoded.slice(0, -2)}`, whsec)).toBe(false);
    expect(isSigned("timestamp.body", bytes, `v1,${decoded}`, whsec)).toBe(false);
  });

  it("is never right for a secret that holds no key", () => {
    const empty = mac("signed", "", "base64");
    for (const secret of ["", "whsec_", "whsec_!!"]) {
      expect(isSigned("id.timestamp.body", bytes, `v1,${empty}`, secret), secret).toBe(false);
    }
  });
});
