// The secrets in a configuration: those that stand below keys whose names tell, and the passwords of URLs.
import type { PipelineGraph } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { isSensitiveKey, REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import type { KnownSecrets } from "../../threads/secrets/known-secrets.ts";
import { urlPasswords, withoutUrlPasswords } from "../../threads/secrets/url-passwords.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";

/** What plugins are given is known from now on, so that it is redacted wherever it is shown. */
export function learnSecrets(
  { plugins, webhooks }: GatewayConfig,
  { pipelines }: PipelineGraph,
  secrets: KnownSecrets,
): void {
  for (const { secret } of webhooks) secrets.add(secret);
  const settings = [...plugins.values()].flatMap(({ config, schedules }) => [
    config,
    ...schedules.map(({ payload }) => payload),
  ]);
  const steps = [...pipelines.values()].flatMap((pipeline) => [...pipeline.steps.values()]);
  for (const given of [...settings, ...steps.map((step) => withoutTemplates(step.with ?? {}))]) {
    secrets.addFrom(given);
    for (const text of textsIn(given)) for (const password of urlPasswords(text)) secrets.add(password);
  }
}

/** A template only says where a value comes from. */
function withoutTemplates(value: Json): Json {
  if (typeof value === "string") return value.includes("{") ? "" : value;
  if (Array.isArray(value)) return value.map(withoutTemplates);
  if (!isMap(value)) return value;
  const entries = Object.entries(value as JsonMap);
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutTemplates(each)]));
}

/** Everything below a sensitive key is hidden, of whatever type it is. */
export function withoutSecrets(value: JsonMap): JsonMap;
export function withoutSecrets(value: Json): Json;
export function withoutSecrets(value: Json): Json {
  if (typeof value === "string") return withoutUrlPasswords(value);
  if (Array.isArray(value)) return value.map((each: Json) => withoutSecrets(each));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonMap).map(([key, each]) => [
      key,
      isSensitiveKey(key) && each !== null ? REDACTED : withoutSecrets(each),
    ]),
  );
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value as JsonMap).flatMap(textsIn);
}
