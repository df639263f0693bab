import { expect, it } from "vitest";
import { type Json, snapshot } from "../../contracts/json.ts";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { createKnownSecrets } from "./known-secrets.ts";
import { secretMarks } from "./secret-marks.ts";

function hide(value: Json, { paths = [], known = [] }: { paths?: readonly string[]; known?: readonly string[] } = {}) {
  const secrets = createKnownSecrets();
  for (const secret of known) secrets.add(secret);
  return hideSecrets(snapshot(value), secrets, secretMarks(paths));
}

it("gives the very value when there is nothing to hide", () => {
  const value = snapshot({ text: "plain", list: [1, { deep: null }] });
  expect(hideSecrets(value, createKnownSecrets())).toBe(value);
  const secrets = createKnownSecrets();
  secrets.add("open-sesame");
  expect(hideSecrets(value, secrets)).toBe(value);
});

it("hides what stands at a telling key, whatever it is, and keeps the order of the rest", () => {
  const shown = hide({ z: 1, api_key: { id: 7 }, list: [{ Token: null, a: true }], b: 2 });
  expect(JSON.stringify(shown)).toBe(`{"z":1,"api_key":"${REDACTED}","list":[{"Token":"${REDACTED}","a":true}],"b":2}`);
});

it("hides what is marked: a field, every item, every value of a map, or the whole", () => {
  const value = { one: "1", rows: [{ card: 2, of: "anna" }], map: { x: { pin: 3 }, y: { pin: 4 } } };
  expect(hide(value, { paths: ["one", "rows.*.card", "map.*.pin"] })).toEqual({
    one: REDACTED,
    rows: [{ card: REDACTED, of: "anna" }],
    map: { x: { pin: REDACTED }, y: { pin: REDACTED } },
  });
  expect(hide(["a", "b"], { paths: ["*"] })).toEqual([REDACTED, REDACTED]);
  expect(hide("whole", { paths: [""] })).toBe(REDACTED);
});

it("hides known secrets in texts, in names and where they are numbers", () => {
  const value = { "of open-sesame": ["It is open-sesame.", 12345678, 7] };
  expect(hide(value, { known: ["open-sesame", "12345678"] })).toEqual({
    [`of ${REDACTED}`]: [`It is ${REDACTED}.`, REDACTED, 7],
  });
});

it("hides what one place gives away also where another place repeats it, before or after", () => {
  expect(hide({ before: "It is sesame.", password: "sesame", after: ["sesame!"] })).toEqual({
    before: `It is ${REDACTED}.`,
    password: REDACTED,
    after: [`${REDACTED}!`],
  });
});
