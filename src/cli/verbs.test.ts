import { expect, it } from "vitest";
import { verbs } from "./verbs.ts";

it("the help of --status names every status that a verb takes, and no other", () => {
  const filters = verbs.flatMap(({ name, options = {}, choices = {} }) =>
    choices.status ? [{ name, help: options["--status <status>"], status: choices.status }] : [],
  );
  expect(filters.map(({ name }) => name)).toContain("gateway jobs");
  for (const { name, help, status } of filters) {
    const [, offered = ""] = /^only (.+) ones$/.exec(help ?? "") ?? [];
    expect(offered.split(/, | or /), name).toEqual(status);
  }
});
