import { expect, it } from "vitest";
import { checkQuery } from "./check-arguments.ts";

const owner = { type: "user", key: "7" };

it.each([{}, { limit: 0, after: "x", status: undefined }, { parent: null }, { parent: "x" }, { owner }])(
  "lets the query %j pass",
  (query) => {
    expect(() => checkQuery(query)).not.toThrow();
  },
);

it.each([
  ["limit", { limit: -1 }],
  ["after", { after: null }],
  ["agent", { agent: " " }],
  ["parent", { parent: "" }],
  ["owner", { owner: "user:7" }],
  ["owner", { owner: null }],
  ["owner.key", { owner: { type: "user" } }],
  ["owner.type", { owner: { ...owner, type: "" } }],
  ["owner.key", { owner: { ...owner, key: "a\0b" } }],
  ["owner", { owner: { ...owner, user_id: 7 } }],
])("names %s, which is wrong in %j", (argument, query) => {
  expect(() => checkQuery(query)).toThrow(new RegExp(`^invalid_argument: ${argument} `));
});
