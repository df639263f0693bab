// One message at a webhook: its signature, its age, whether it came before, and the job that it becomes.
import { createHash } from "node:crypto";
import { HoldfastError } from "../../contracts/error.ts";
import { isReservedForOutside } from "../../contracts/gateway/event.ts";
import { isTooDeep, storableJson } from "../../contracts/gateway/storable-json.ts";
import { isFresh, webhookStatus } from "../../contracts/gateway/webhook-body.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { WebhookEndpoint } from "../config/gateway-config.ts";
import type { DispatchDeps } from "./deps.ts";
import type { Snapshot } from "./snapshot.ts";
import { findPlugin, START_EVENT, submitCall } from "./submit.ts";

export type WebhookMessage = { readonly headers: Headers; readonly body: Uint8Array };
export type WebhookAnswer = { readonly status: 202 | 400 | 403 | 413; readonly body: JsonMap };

/** Senders learn no more than the status: why a signature is refused is for the log. */
const refusal = (status: 403 | 413): WebhookAnswer => ({
  status,
  body: {
    code: status === 413 ? "body_too_large" : "webhook_refused",
    error: status === 413 ? "too large" : "forbidden",
  },
});

export async function receiveWebhook(
  deps: DispatchDeps,
  snapshot: Snapshot,
  endpoint: WebhookEndpoint,
  { headers, body }: WebhookMessage,
): Promise<WebhookAnswer> {
  const { secret, max_body_bytes, signature_header, path } = endpoint;
  const status = webhookStatus({ secret, body, header: headers.get(signature_header) ?? "", max_body_bytes });
  const about = { id: "", plugin: endpoint.plugin, command: "handle" };
  if (status !== 202) {
    deps.log("warn", `webhook ${path}: refused with ${status}`, about);
    return refusal(status);
  }
  const { timestamp_header, dedupe_header, tolerance_ms } = endpoint;
  if (timestamp_header !== null && !isFresh(headers.get(timestamp_header) ?? undefined, deps.now(), tolerance_ms)) {
    deps.log("warn", `webhook ${path}: refused, its ${timestamp_header} is missing or too old`, about);
    return refusal(403);
  }
  const key = dedupe_header === null ? undefined : headers.get(dedupe_header)?.trim();
  if (dedupe_header !== null && !key) {
    deps.log("warn", `webhook ${path}: refused, it has no ${dedupe_header}`, about);
    return refusal(403);
  }
  const delivery = key ?? (timestamp_header === null ? undefined : sha256(body));
  const payload = readBody(body);
  if (!payload) return { status: 400, body: { code: "invalid_body", error: "The body is not a JSON object." } };
  const plugin = findPlugin(snapshot, endpoint.plugin);
  const type = typeof payload.type === "string" ? payload.type : undefined;
  if ((type !== undefined && isReservedForOutside(type)) || (plugin.isAgent && type !== START_EVENT)) {
    deps.log(
      "warn",
      `webhook ${path}: an event of type ${JSON.stringify(type?.slice(0, 200) ?? null)} was refused`,
      about,
    );
    return { status: 403, body: { code: "event_reserved", error: "This type of event is not accepted here." } };
  }
  try {
    const submitted = await submitCall(
      deps,
      snapshot,
      {
        plugin,
        command: "handle",
        payload,
        eventType: null,
        ...(delivery && { dedupe_key: `webhook:${path}:${delivery}` }),
      },
      { via: `webhook:${path}` },
    );
    const [jobId] = submitted.job_ids;
    if (jobId !== undefined) return { status: 202, body: { job_id: jobId } };
    deps.log("warn", `webhook ${path}: refused, this message was delivered before`, about);
    return refusal(403);
  } catch (thrown) {
    if (thrown instanceof HoldfastError && thrown.code === "plugin_command_not_found") return refusal(403);
    throw thrown;
  }
}

/** Where no header names a delivery, the bytes that were signed do. */
function sha256(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

function readBody(body: Uint8Array): JsonMap | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    if (isTooDeep(text)) return undefined;
    const value = storableJson(JSON.parse(text));
    return isMap(value) ? (value as JsonMap) : undefined;
  } catch {
    return undefined;
  }
}
