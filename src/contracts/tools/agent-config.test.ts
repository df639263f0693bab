import { expect, it } from "vitest";
import { agentConfigOf } from "./agent-config.ts";

it("takes the configuration of the run in place of the agent's defaults, even when it is empty", () => {
  const agent = { default_config: { tool_policy: { mode: "allow" } } };
  expect(agentConfigOf({ agent })).toBe(agent.default_config);
  expect(agentConfigOf({ agent, agent_config: null })).toBe(agent.default_config);
  expect(agentConfigOf({ agent, agent_config: {} })).toEqual({});
  expect(agentConfigOf({ agent: "editor" })).toEqual({});
});
