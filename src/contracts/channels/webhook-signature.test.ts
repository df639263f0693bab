import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verify } from "./webhook-signature.ts";

const body = '{"a":"é"}';
const hex = createHmac("sha256", "s3cret").update(body).digest("hex");

describe("the signature of a webhook", () => {
  it("is that of the very bytes of the body", () => {
    expect(verify(body, `sha256=${hex}`, "s3cret")).toBe(true);
    expect(verify(new TextEncoder().encode(body), ` sha256= ${hex.toUpperCase()} `, "s3cret")).toBe(true);
    expect(verify(`${body} `, `sha256=${hex}`, "s3cret")).toBe(false);
    expect(verify(body, `sha256=${hex}`, "other")).toBe(false);
  });

  it("is never right without a secret, a header or a body", () => {
    const empty = createHmac("sha256", "").update(body).digest("hex");
    expect(verify(body, `sha256=${empty}`, "")).toBe(false);
    for (const header of ["", " ", null, undefined, 7, ["x"], `sha256=${hex.slice(1)}`, `sha256=${hex}0`, "sha256=é"]) {
      expect(verify(body, header, "s3cret")).toBe(false);
    }
    expect(verify(null, `sha256=${hex}`, "s3cret")).toBe(false);
    expect(verify(body, `sha256=${hex}`, null)).toBe(false);
  });

  it("begins with the prefix that is expected, or with none where that is allowed", () => {
    expect(verify(body, `SHA256=${hex}`, "s3cret")).toBe(false);
    expect(verify(body, hex, "s3cret")).toBe(false);
    expect(verify(body, hex, "s3cret", { allow_raw_hex: true })).toBe(true);
    expect(verify(body, hex, "s3cret", { allow_raw_hex: 1 as never })).toBe(false);
    expect(verify(body, `v0=${hex}`, "s3cret", { expected_prefix: "v0=" })).toBe(true);
    expect(verify(body, `sha256=${hex}`, "s3cret", { expected_prefix: "v0=" })).toBe(false);
    expect(verify(body, hex, "s3cret", { expected_prefix: "" })).toBe(false);
    expect(verify(body, `sha256=${hex}`, "s3cret", { expected_prefix: 7 as never })).toBe(true);
    expect(verify(body, `sha256=${hex}`, "s3cret", null as never)).toBe(true);
  });
});
