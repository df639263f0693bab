import { generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { createSigner, readPublicKey } from "./signer.ts";

const signer = createSigner(new Uint8Array(32).fill(7));

it("signs with a key that follows from its seed, and from no other", () => {
  expect(createSigner(new Uint8Array(32).fill(7)).publicKey).toBe(signer.publicKey);
  expect(createSigner(new Uint8Array(32).fill(8)).publicKey).not.toBe(signer.publicKey);
  // The first test of RFC 8032.
  const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
  const raw = Buffer.from(createSigner(seed).publicKey, "base64url").subarray(-32).toString("hex");
  expect(raw).toBe("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  expect(() => createSigner(new Uint8Array(31))).toThrow(expect.objectContaining({ code: "invalid_secret_key" }));
});

it("knows a text that was signed, and no other way to write its signature", () => {
  const key = readPublicKey(signer.publicKey);
  const text = "so be it \ufffd";
  const signature = signer.sign(text);
  expect(key?.fingerprint).toBe(signer.fingerprint);
  expect(key?.isSigned(text, signature)).toBe(true);
  for (const other of [`${text} `, "", "so be it \ud800"]) expect(key?.isSigned(other, signature)).toBe(false);
  const bytes = Buffer.from(signature, "base64url");
  const others = [`${signature}=`, ` ${signature}`, bytes.toString("base64"), bytes.toString("hex"), ""];
  for (const other of others) expect(key?.isSigned(text, other)).toBe(false);
});

it("reads a public key as text or as PEM, and nothing else", () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
  const text = publicKey.export({ format: "der", type: "spki" }).toString("base64url");
  expect(readPublicKey(pem)?.fingerprint).toBe(readPublicKey(text)?.fingerprint);
  const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const others = ["", "x", pem.slice(0, 40), rsa.publicKey.export({ format: "pem", type: "spki" }).toString()];
  for (const other of others) expect(readPublicKey(other)).toBeUndefined();
});
