import { describe, expect, it } from "vitest";
import { urlPasswords, withoutUrlPasswords } from "./url-passwords.ts";

describe("the password of a URL", () => {
  it.each([
    ["postgres://anna:s3cret@db.example/shop", ["s3cret"], "postgres://anna:[redacted]@db.example/shop"],
    ["redis://:p%40ss@h:6379", ["p%40ss", "p@ss"], "redis://:[redacted]@h:6379"],
    ["http://u:a@b:c@h", ["a@b:c"], "http://u:[redacted]@h"],
    ["http://u:100%@h", ["100%"], "http://u:[redacted]@h"],
    ["one ftp://a:b@c, two ftp://d:e@f", ["b", "e"], "one ftp://a:[redacted]@c, two ftp://d:[redacted]@f"],
  ])("%s", (text, passwords, shown) => {
    expect(urlPasswords(text)).toEqual(passwords);
    expect(withoutUrlPasswords(text)).toBe(shown);
  });

  it.each([
    "http://host:8080/a@b",
    "http://host/?q=a:b@c",
    "http://host#a:b@c",
    "http://user@host",
    "http://user:@host",
    "mail to a:b@c",
    "anna: http://host, bob@host",
  ])("is not in %s", (text) => {
    expect(urlPasswords(text)).toEqual([]);
    expect(withoutUrlPasswords(text)).toBe(text);
  });

  it("is found in linear time", () => {
    const text = `http://u:${"://a:".repeat(100_000)}`;
    expect(withoutUrlPasswords(text)).toBe(text);
  });
});
