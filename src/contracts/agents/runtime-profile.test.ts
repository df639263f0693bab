import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import * as runtimeProfile from "./runtime-profile.ts";

const agent = { slug: "helper", default_config: { default_provider: "house", default_model: "small" } };

describe("a runtime profile", () => {
  it("decides provider and model separately, each at the first source that has one", () => {
    const context = { model: { model_id: " large " }, provider_id: " " };
    expect(runtimeProfile.resolve({ agent, context })).toMatchObject({
      provider_id: "house",
      model_id: "large",
      provenance: {
        provider_id: { source: "agent.default_config", path: "default_provider" },
        model_id: { source: "context", path: "model.model_id" },
      },
    });
  });

  it("reads the configurations one after the other, in each the mode before the default", () => {
    const mode_models = { chat: { provider: "modal", model_id: "talker", model: "unread" } };
    const identity = { id: 1, config: { default_model_id: "own", mode_models } };
    const context = { mode: "chat", identity, agent_config: { default_provider_id: "asked" } };
    expect(runtimeProfile.resolve({ agent, context })).toMatchObject({
      provider_id: "asked",
      model_id: "talker",
      identity,
      provenance: {
        config_sources: [
          { source: "context.agent_config", path: "" },
          { source: "identity.config", path: "" },
          { source: "agent.default_config", path: "" },
        ],
        model_id: { source: "identity.config", path: "mode_models.chat.model_id" },
      },
    });
  });

  it("takes an empty text of a host's provider for an answer, and asks no further provider", async () => {
    const providers = [async () => null, () => ({ provider_id: "" }), () => ({ model_id: "never asked" })];
    expect(await runtimeProfile.resolve({ agent, providers })).toMatchObject({
      provider_id: "",
      model_id: "small",
      provenance: { provider_id: { path: "runtime_profile_providers.1.provider_id" } },
    });
  });

  it("knows an agent by its identity alone, and nothing by nothing", () => {
    expect(runtimeProfile.resolve({ agent: { slug: "x" }, context: { identity: { id: 1 } } })).toMatchObject({
      provider_id: "",
      identity: { id: 1 },
      provenance: { config_sources: [] },
    });
    expect(runtimeProfile.resolve({ agent: { slug: "x" }, providers: [() => ({ model_id: "" })] })).toBeNull();
  });

  it("finds nothing in the prototype of a configuration", () => {
    expect(runtimeProfile.resolve({ agent, context: { mode: "constructor" } })).toMatchObject({ model_id: "small" });
  });

  it("lets a host add providers and have the last word, but only with a whole profile", async () => {
    const hooks = createHooks();
    hooks.filter("runtimeProfileProviders", (providers) => [...providers, () => ({ model_id: "hosted" })]);
    hooks.filter("resolvedAgentRuntimeProfile", (profile) => ({ ...profile, provider_id: "swapped" }));
    hooks.filter("resolvedAgentRuntimeProfile", async (profile) => ({ ...profile, agent_slug: "swapped-too" }));
    expect(await runtimeProfile.resolve({ agent, hooks })).toMatchObject({
      agent_slug: "swapped-too",
      provider_id: "swapped",
      model_id: "hosted",
    });
    hooks.filter("resolvedAgentRuntimeProfile", () => ({ model_id: "half a profile" }));
    expect(await runtimeProfile.resolve({ agent, hooks })).toMatchObject({ provider_id: "house", model_id: "hosted" });
  });

  it("says when a host's provider failed, at once or later", async () => {
    const broken = () => {
      throw new Error("down");
    };
    expect(() => runtimeProfile.resolve({ agent, providers: [broken] })).toThrow("runtime_profile_failed");
    await expect(runtimeProfile.resolve({ agent, providers: [async () => broken()] })).rejects.toThrow(
      "runtime_profile_failed",
    );
  });
});
