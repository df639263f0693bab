// Models of real provider packages that ask the provider on loopback.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenAICompatible as createOpenAICompatibleV3 } from "openai-compatible-v3";
import type { AiSdkModel } from "../src/models/model-choice.ts";
import type { Protocol, ProviderServer } from "./provider-server.ts";

export type Provider = {
  readonly title: string;
  readonly protocol: Protocol;
  model(server: ProviderServer): AiSdkModel;
};

export const apiKey = "sk-test-0123456789";

export const openai: Provider = {
  title: "@ai-sdk/openai-compatible",
  protocol: "openai",
  model: ({ url: baseURL }) => createOpenAICompatible({ name: "local", baseURL, apiKey, includeUsage: true })("small"),
};

export const olderOpenai: Provider = {
  title: "@ai-sdk/openai-compatible of interface v3",
  protocol: "openai",
  model: ({ url: baseURL }) =>
    createOpenAICompatibleV3({ name: "local", baseURL, apiKey, includeUsage: true })("small"),
};

export const anthropic: Provider = {
  title: "@ai-sdk/anthropic",
  protocol: "anthropic",
  model: ({ url: baseURL }) => createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"),
};
