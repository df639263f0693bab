// An answer as it is stored: without the secrets of what was asked, and without those of the result that it brings.
import type { StoredRequest } from "../../backend/request-store.ts";
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { parameterMarks } from "../calls/shown-outcome.ts";
import type { Host } from "../host.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import { installationSecrets } from "../secrets/installation-secrets.ts";
import { createKnownSecrets, type KnownSecrets } from "../secrets/known-secrets.ts";
import type { Tool } from "../tool.ts";

/** `tool`: the one that was asked for, where it is known. */
export function shownAnswer(host: Host, request: StoredRequest, tool: Tool | undefined, answer: JsonMap): JsonMap {
  const secrets = createKnownSecrets(installationSecrets(host));
  if (request.sealed !== null) addAsked(secrets, JSON.parse(host.sealing.open(request.sealed, request.id)), tool);
  const { result, reason, error } = answer;
  const brought = result === undefined ? {} : { result: hideSecrets(result, secrets, tool?.secretOutput) };
  // After the result, which they may quote. What was decided stays as it is, whatever somebody chose as a password.
  const words = Object.entries({ reason, error }).flatMap(([name, text]) =>
    typeof text === "string" ? [[name, secrets.clean(text)]] : [],
  );
  return { ...answer, ...brought, ...Object.fromEntries(words) };
}

/** What a client is to run its tool with, or what applying a proposal takes. */
function addAsked(secrets: KnownSecrets, whole: Json, tool: Tool | undefined): void {
  if (!isMap(whole)) return;
  const { parameters, apply_input: proposed } = whole as JsonMap;
  const marks = tool && parameterMarks(tool.declaration);
  if (parameters !== undefined) secrets.addFrom(parameters, marks);
  if (proposed === undefined) return;
  secrets.addFrom(proposed);
  if (isMap(proposed) && proposed.parameters !== undefined) secrets.addFrom(proposed.parameters as Json, marks);
}
