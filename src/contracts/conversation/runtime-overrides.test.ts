import { expect, it } from "vitest";
import * as runtimeOverrides from "./runtime-overrides.ts";

it("writes into the context what is set, a temperature of zero included", () => {
  const overrides = runtimeOverrides.normalize({ temperature: 0, model_id: " m ", greeting: " ", tier_1_tools: [] });
  expect(runtimeOverrides.intoContext(overrides)).toEqual({ temperature: 0, model_id: "m" });
});

it("does not read numbers or texts into values of another kind", () => {
  const overrides = runtimeOverrides.normalize({ max_iterations: "12abc", temperature: true, system_prompt: true });
  expect(runtimeOverrides.intoContext(overrides)).toEqual({});
});

it("reads anything but a map as no overrides", () => {
  expect(runtimeOverrides.intoContext(runtimeOverrides.normalize("x"))).toEqual({});
});
