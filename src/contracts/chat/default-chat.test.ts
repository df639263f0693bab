import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import type { UnknownMap } from "../json.ts";
import { type DefaultChatHost, readDefaultChat } from "./default-chat.ts";

const ready = {
  provider_id: "p",
  model: "  ",
  model_id: "m",
  instructions: "Be brief.",
  tools: ["a"],
  abilities: ["b"],
};
const host = (config: UnknownMap = ready, more: Partial<DefaultChatHost> = {}): DefaultChatHost => ({
  configOf: (agent) => (agent === "ready" ? config : undefined),
  ...more,
});
const turn = { agent: "ready", message: " hi " };

const codeOf = async (input: object, of: DefaultChatHost = host()) =>
  ((await readDefaultChat(input, of)) as { code?: string }).code;

describe("what a configured chat runs with", () => {
  it("is the first of each that says something", async () => {
    expect(await readDefaultChat(turn, host())).toEqual({
      ...{ agent: "ready", message: "hi", continuation: [], provider: "p", model: "m", system_prompt: "Be brief." },
      ...{ max_turns: 12, tools: ["a", "b"], structured_output: null },
    });
    const profileOf = () => ({ provider_id: "profile", model_id: "" });
    const config = { ...ready, enabled_tools: ["only"], max_turns: 3 };
    expect(await readDefaultChat({ ...turn, model: "mine", max_turns: 0 }, host(config, { profileOf }))).toMatchObject({
      ...{ provider: "profile", model: "mine", tools: ["only"], max_turns: 3 },
    });
  });

  it("is looked up by the slug of the agent", async () => {
    for (const agent of ["Ready", " ready! "]) {
      expect(await readDefaultChat({ ...turn, agent }, host())).toMatchObject({ agent: "ready", provider: "p" });
    }
    expect(await codeOf({ ...turn, agent: "!!" })).toBe("agents_chat_agent_not_found");
  });

  it("is refused in the order of what is missing", async () => {
    expect(await codeOf({ input_messages: ["x"] })).toBe("agents_chat_invalid_input_messages");
    expect(await codeOf({ ...turn, agent: "ghost" })).toBe("agents_chat_agent_not_found");
    expect(await codeOf(turn, { configOf: null })).toBe("agents_chat_registry_unavailable");
    expect(await codeOf({ message: "hi" })).toBe("agents_chat_provider_required");
    const schema = { type: "object" };
    expect(await codeOf({ ...turn, structured_output: { schema } })).toBe("agents_chat_structured_output_incompatible");
    const bare = host({ provider: "p", model: "m" });
    const wanted = { ...turn, structured_output: { schema } };
    expect(await codeOf(wanted, bare)).toBeUndefined();
    expect(await codeOf({ ...wanted, token_streaming: true }, bare)).toBe("agents_chat_structured_output_incompatible");
  });

  it("takes tools of the server's own, and no other say about them", async () => {
    const withOverlay = (overlay: unknown) => {
      const hooks = createHooks();
      hooks.filter("runtimeToolDeclarations", () => overlay);
      return host(ready, { hooks });
    };
    const added = { "client/where": { name: "client/where", description: "Asks.", parameters: {} } };
    expect(await readDefaultChat(turn, withOverlay(added))).toMatchObject({ tools: ["a", "b", "client/where"] });
    const unknown = { "shop/refund": { name: "shop/refund", description: "Refunds.", parameters: {} } };
    for (const overlay of ["none", unknown, { "client/where": { name: "client/else" } }]) {
      expect(await codeOf(turn, withOverlay(overlay))).toBe("agents_chat_invalid_runtime_tool_declaration");
    }
  });

  it("ends where a hook makes something else than a map of the configuration", async () => {
    const hooks = createHooks();
    hooks.filter("runtimeAgentConfig", () => "broken");
    expect(await codeOf(turn, host(ready, { hooks }))).toBe("agents_chat_invalid_runtime_agent_config");
  });
});
