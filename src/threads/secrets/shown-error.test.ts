import { inspect } from "node:util";
import { expect, it } from "vitest";
import { HoldfastError, holdfastError } from "../../contracts/error.ts";
import { createKnownSecrets } from "./known-secrets.ts";
import { shownError } from "./shown-error.ts";

const SECRET = 'open-"sesame"';

function knowing() {
  const known = createKnownSecrets();
  known.add(SECRET);
  return known;
}

const inside = (error: unknown) => inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
const holds = (error: unknown) => inside(error).includes("sesame");

it("is the very error when there is nothing to hide in it", () => {
  for (const error of [new Error("It failed."), holdfastError("no_run", "None."), "words", 7, null, undefined]) {
    expect(shownError(error, knowing())).toBe(error);
  }
});

it("is of the same kind, with the same fields, without the secret in its words, its stack and its causes", () => {
  const cause = new TypeError(`Not ${SECRET}.`, { cause: { why: [`since ${SECRET}`] } });
  const error = holdfastError("hook_failed", `It was ${SECRET}.`, cause);
  expect(holds(error)).toBe(true);
  const shown = shownError(error, knowing());
  expect(shown).toBeInstanceOf(HoldfastError);
  expect(shown).toMatchObject({ name: "HoldfastError", code: "hook_failed", detail: "It was [redacted]." });
  expect((shown as Error).cause).toBeInstanceOf(TypeError);
  expect((shown as Error).cause).toMatchObject({ message: "Not [redacted].", cause: { why: ["since [redacted]"] } });
  expect((shown as Error).stack).toContain("shown-error.test.ts");
  expect(holds(shown)).toBe(false);
});

it("has no more of a request than plain values, and none that stands at a telling key, though nobody knows it", () => {
  class Response {
    readonly text = SECRET;
  }
  const config = { url: "/orders", headers: { Authorization: "Bearer unheard-of" } };
  const error = Object.assign(new Error("401"), { status: 401, config, response: new Response(), retry: () => SECRET });
  const shown = shownError(error, createKnownSecrets());
  expect(shown).toMatchObject({ message: "401", status: 401, config: { url: "/orders" } });
  expect(inside(shown)).not.toContain("unheard-of");
  expect(holds(shown)).toBe(false);
});

it("has the errors that it was put together from, without their secrets", () => {
  const shown = shownError(new AggregateError([new Error(`One ${SECRET}`), new Error("Two")], "Both"), knowing());
  expect(shown).toBeInstanceOf(AggregateError);
  expect((shown as AggregateError).errors.map(({ message }) => message)).toEqual(["One [redacted]", "Two"]);
  expect(holds(shown)).toBe(false);
});

it("hides what was thrown instead of an error", () => {
  expect(shownError(`It was ${SECRET}`, knowing())).toBe("It was [redacted]");
  expect(shownError({ token: "x", why: [SECRET] }, knowing())).toEqual({ token: "[redacted]", why: ["[redacted]"] });
});

it("comes to an end with an error that causes itself, or refuses to be looked at", () => {
  const error = new Error(`It was ${SECRET}`);
  error.cause = error;
  expect(holds(shownError(error, knowing()))).toBe(false);
  const hostile = Object.defineProperty(new Error("x"), "config", {
    enumerable: true,
    get() {
      throw new Error("No.");
    },
  });
  expect(shownError(hostile, knowing())).toMatchObject({ message: "x" });
});
