import { describe, expect, it } from "vitest";
import { createSealing } from "./sealing.ts";

const key = new Uint8Array(32).fill(7);
const sealing = createSealing(key);
const other = createSealing(new Uint8Array(32).fill(8));
const mismatch = expect.objectContaining({ code: "secret_key_mismatch" });

describe("a sealed text", () => {
  it.each(["", "a", "refund order 7", "Zoë \u{1F375} \0", "x".repeat(100_000)])("opens again: %j", (text) => {
    expect(sealing.open(sealing.seal(text, "call 1"), "call 1")).toBe(text);
  });

  it("is different every time, however many are made", () => {
    const made = new Set(Array.from({ length: 2_000 }, () => sealing.seal("pin 1234", "call 1")));
    expect(made.size).toBe(2_000);
    for (const sealed of made) expect(sealed).toMatch(/^s1\.[\w-]+$/);
    // The nonce comes first: 12 bytes are 16 letters.
    expect(new Set([...made].map((sealed) => sealed.slice(3, 19))).size).toBe(2_000);
  });

  it("does not open with another key, for another place, or changed by a letter", () => {
    const sealed = sealing.seal("pin 1234", "call 1");
    expect(() => other.open(sealed, "call 1")).toThrow(mismatch);
    expect(() => sealing.open(sealed, "call 2")).toThrow(mismatch);
    for (let index = 0; index < sealed.length - 1; index++) {
      const letter = sealed[index] === "A" ? "B" : "A";
      expect(() => sealing.open(sealed.slice(0, index) + letter + sealed.slice(index + 1), "call 1")).toThrow(mismatch);
    }
  });

  it.each(["", "s1.", "s1.AAAA", "pin 1234", "s2.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])(
    "is not anything else: %j",
    (text) => {
      expect(() => sealing.open(text, "call 1")).toThrow(mismatch);
    },
  );

  it("opens with a sealing that was made later from the same key", () => {
    expect(createSealing(key.slice()).open(sealing.seal("pin", "call 1"), "call 1")).toBe("pin");
  });
});

describe("a bound value", () => {
  it("is the same for the same content and another for any other", () => {
    const bound = sealing.bind({ order: 7, pin: "1234" }, "call 1");
    expect(bound).toMatch(/^hmac:[0-9a-f]{64}$/);
    expect(sealing.bind({ pin: "1234", order: 7 }, "call 1")).toBe(bound);
    const others = [
      sealing.bind({ order: 7, pin: "1235" }, "call 1"),
      sealing.bind({ order: "7", pin: "1234" }, "call 1"),
      sealing.bind({ order: 7, pin: "1234" }, "call 2"),
      other.bind({ order: 7, pin: "1234" }, "call 1"),
    ];
    expect(new Set([bound, ...others]).size).toBe(5);
  });
});

describe("a sealing", () => {
  it("has a fingerprint that tells keys apart", () => {
    expect(sealing.fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(createSealing(key).fingerprint).toBe(sealing.fingerprint);
    expect(other.fingerprint).not.toBe(sealing.fingerprint);
  });

  it("needs a key of 32 bytes", () => {
    expect(() => createSealing(new Uint8Array(16))).toThrow(expect.objectContaining({ code: "invalid_secret_key" }));
  });
});
