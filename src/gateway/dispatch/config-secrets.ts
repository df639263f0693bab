// The secrets in a configuration: those that stand below keys whose names tell, and the passwords of URLs.
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { isSensitiveKey, REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import type { KnownSecrets } from "../../threads/secrets/known-secrets.ts";
import { urlPasswords, withoutUrlPasswords } from "../../threads/secrets/url-passwords.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";

/** What plugins are given is known from now on, so that it is redacted wherever it is shown. */
export function learnSecrets({ plugins, webhooks }: GatewayConfig, secrets: KnownSecrets): void {
  for (const { secret } of webhooks) secrets.add(secret);
  for (const { config, schedules } of plugins.values()) {
    for (const given of [config, ...schedules.map(({ payload }) => payload)]) {
      secrets.addFrom(given);
      for (const text of textsIn(given)) for (const password of urlPasswords(text)) secrets.add(password);
    }
  }
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
