// One message at a webhook: its signature, its age, whether it came before, and the job that it becomes.
import { createHash } from "node:crypto";
import { HoldfastError } from "../../../contracts/error.ts";
import { isReservedForOutside } from "../../../contracts/gateway/protocol/event.ts";
import { isTooDeep, storableJson } from "../../../contracts/gateway/protocol/storable-json.ts";
import { isFresh, webhookStatus } from "../../../contracts/gateway/protocol/webhook-body.ts";
import { signedBytes } from "../../../contracts/gateway/protocol/webhook-signed.ts";
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import type { WebhookEndpoint } from "../../config/gateway-config.ts";
import type { WebhookMessage } from "../../gateway.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import { findPlugin, type OnceKey, START_EVENT, submitCall } from "./submit.ts";

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
  { headers, body, logsRefusal = () => true }: WebhookMessage,
): Promise<WebhookAnswer> {
  const { secret, max_body_bytes, signature_header, signed_payload, path } = endpoint;
  const { timestamp_header, dedupe_header, tolerance_ms } = endpoint;
  const header = (name: string | null) => (name === null ? undefined : (headers.get(name) ?? undefined));
  const timestamp = header(timestamp_header);
  const about = { id: "", plugin: endpoint.plugin, command: "handle" };
  const refused = (status: 403 | 413, why: string) => {
    if (logsRefusal()) deps.log("warn", `webhook ${path}: refused${why}`, about);
    return refusal(status);
  };
  const parts = { body, timestamp, id: header(dedupe_header) };
  const status = webhookStatus({
    ...{ secret, max_body_bytes, signed_payload },
    ...parts,
    header: header(signature_header),
  });
  if (status !== 202) return refused(status, ` with ${status}`);
  if (timestamp_header !== null && !isFresh(timestamp, deps.now(), tolerance_ms)) {
    return refused(403, `, its ${timestamp_header} is missing or too old`);
  }
  const key = parts.id?.trim();
  if (dedupe_header !== null && !key) return refused(403, `, it has no ${dedupe_header}`);
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
        ...(key && { dedupe_key: `webhook:${path}:${key}` }),
        ...((timestamp_header !== null || dedupe_header !== null) && {
          once: onceOf(endpoint, signedBytes(signed_payload, parts) ?? body, snapshot),
        }),
      },
      { via: `webhook:${path}` },
    );
    const [jobId] = submitted.job_ids;
    if (jobId !== undefined) return { status: 202, body: { job_id: jobId } };
    return refused(403, ", this message was delivered before");
  } catch (thrown) {
    if (thrown instanceof HoldfastError && thrown.code === "plugin_command_not_found") return refusal(403);
    throw thrown;
  }
}

/**
 * A signature is taken once, by the bytes that it covers: headers that it does not cover may say anything. For as long as
 * dedupe counts, and at least while a time that was signed is a good one.
 */
function onceOf({ path, tolerance_ms }: WebhookEndpoint, signed: Uint8Array, { config }: Snapshot): OnceKey {
  const digest = createHash("sha256").update(signed).digest("hex");
  return { parts: ["webhook", path, digest], keepMs: Math.max(config.service.dedupe_ttl_ms, 2 * tolerance_ms) };
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
