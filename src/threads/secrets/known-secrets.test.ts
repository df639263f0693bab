import { describe, expect, it } from "vitest";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import { createKnownSecrets } from "./known-secrets.ts";
import { secretMarks } from "./secret-marks.ts";

function knowing(...secrets: readonly string[]) {
  const known = createKnownSecrets();
  for (const secret of secrets) known.add(secret);
  return known;
}

describe("a text", () => {
  it("is rid of a secret as often as it holds it", () => {
    expect(knowing("hunter22").clean("key=hunter22; again hunter22")).toBe(`key=${REDACTED}; again ${REDACTED}`);
  });

  it("is rid of one for what it is, whatever its characters mean elsewhere", () => {
    expect(knowing(".*+?^$& ").clean("a $& b .*+?^$& c")).toBe(`a $& b ${REDACTED}c`);
  });

  it("keeps nothing of a secret that begins like another one, wherever the two are known", () => {
    expect(knowing("the-key", "the-key-and-more").clean("the-key-and-more")).toBe(REDACTED);
    const around = knowing("the-key-and-more");
    const known = createKnownSecrets(around);
    known.add("the-key");
    expect(known.clean("the-key-and-more")).toBe(REDACTED);
  });

  it("keeps words of fewer than six characters, which look like others", () => {
    const known = knowing("yes", "12345");
    expect([known.isEmpty, known.clean("yes, 12345")]).toEqual([true, "yes, 12345"]);
  });

  it("is rid of secrets that are written as JSON, as JSON within JSON, or as part of an address", () => {
    const secret = 'a"b\\c ü/d';
    const written = [JSON.stringify({ secret }), JSON.stringify(JSON.stringify([secret])), encodeURIComponent(secret)];
    for (const text of written) {
      expect(knowing(secret).clean(text)).toContain(REDACTED);
      expect(knowing(secret).clean(text)).not.toMatch(/a.*b.*c.*d"?\]/);
    }
  });

  it("is rid of what follows the scheme of a header, and of each cookie", () => {
    const known = createKnownSecrets();
    known.addNamed("authorization", "Bearer open-sesame");
    known.addNamed("set-cookie", "sid=0123456789; theme=dark; Path=/");
    expect(known.clean("open-sesame, 0123456789, dark")).toBe(`${REDACTED}, ${REDACTED}, dark`);
  });
});

it("finds them at telling names and at marked places, however deep, and tells whether there were any", () => {
  const known = createKnownSecrets();
  const value = { user: "anna-anna", password: "open-sesame", deep: [{ card: "4111-1111", pins: [12345678, 4711] }] };
  expect(known.addFrom(value, secretMarks(["deep.*.card", "deep.*.pins.*"]))).toBe(true);
  expect(["anna-anna", "open-sesame", "4111-1111", "12345678", "4711"].filter((text) => known.has(text))).toEqual([
    ...["open-sesame", "4111-1111", "12345678"],
  ]);
  expect(createKnownSecrets().addFrom({ user: "anna-anna", list: [[1], null] })).toBe(false);
});

it("tells those around it of what could not be anybody's word", () => {
  const around = createKnownSecrets();
  const known = createKnownSecrets(around, { tells: true });
  for (const secret of ["function", "open-sesame", "a1b2c3"]) known.add(secret);
  const isKnown = (text: string) => [known.has(text), around.has(text)];
  expect([isKnown("function"), isKnown("open-sesame"), isKnown("a1b2c3")]).toEqual([
    [true, false],
    [true, true],
    [true, false],
  ]);
});

it("takes for no secret what was revealed, before or after", () => {
  const known = knowing("https://shop.example");
  known.reveal("https://shop.example");
  known.add("https://shop.example");
  expect(known.clean("https://shop.example/7")).toBe("https://shop.example/7");
});

it("forgets the oldest in a run that learns without end", () => {
  const known = createKnownSecrets();
  for (let index = 0; index < 10_000; index++) known.add(`secret-${index}`);
  expect([known.has("secret-0"), known.has("secret-9999")]).toEqual([false, true]);
});
