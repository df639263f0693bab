import { expect, it } from "vitest";
import { agentSlug } from "./agent-slug.ts";

it("makes one slug of every spelling of a name", () => {
  expect(["My Agent", " my_agent\n", "--MY--agent--", "my.agent"].map(agentSlug)).toEqual(Array(4).fill("my-agent"));
});

it("knows the letters and digits of ASCII alone", () => {
  expect(["Zoë", "\u212Aelvin", 42].map(agentSlug)).toEqual(["zo", "elvin", "42"]);
});

it("has no slug for what is no name", () => {
  expect(["", "!?", null, undefined, true, {}, ["a"]].map(agentSlug)).toEqual(Array(7).fill(""));
});
