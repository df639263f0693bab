// The `webhooks` block: a list of endpoints, or a map with one.

import { type SignedPayload, signedPayloads } from "../../../contracts/gateway/protocol/webhook-signed.ts";
import type { LocatedNode } from "../../../yaml/located-node.ts";
import { showPlace } from "../../../yaml/place.ts";
import type { Report } from "../../../yaml/report.ts";
import type { Environment } from "../environment.ts";
import { readEnvironmentRef } from "../environment-ref.ts";
import type { WebhookEndpoint } from "../gateway-config.ts";
import { belongsToHost } from "./parse-service.ts";
import { parseSize } from "./parse-size.ts";
import { openSection, openSections, type Section } from "./section.ts";
import { readWebhookPath, withoutSlash } from "./webhook-path.ts";

const MIB = 1_048_576;

/** What the server accepts at most. */
const LARGEST_BODY = 10 * MIB;

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

export function parseWebhooks(blocks: readonly LocatedNode[], env: Environment, report: Report): WebhookEndpoint[] {
  const endpoints = new Map<string, WebhookEndpoint>();
  for (const section of blocks.flatMap((block) => openEndpoints(block, report))) {
    const endpoint = parseEndpoint(section, env);
    const earlier = endpoint && endpoints.get(withoutSlash(endpoint.path));
    if (earlier) section.problem("path", `is already taken by the endpoint at ${showPlace(earlier.place)}.`);
    else if (endpoint) endpoints.set(withoutSlash(endpoint.path), endpoint);
  }
  return [...endpoints.values()];
}

function openEndpoints(block: LocatedNode, report: Report): Section[] {
  if (block.kind === "list") return openSections(block.items, "webhooks", report);
  if (block.kind === "scalar") {
    report.problem(block.place, "webhooks takes a list of endpoints.");
    return [];
  }
  const section = openSection(block, "webhooks", report);
  belongsToHost(section, "listen", "Holdfast's server answers webhooks, see holdfast serve --host and --port");
  const endpoints = section.sections("endpoints");
  section.finish();
  return endpoints;
}

function parseEndpoint(section: Section, env: Environment): WebhookEndpoint | undefined {
  const path = readPath(section);
  const plugin = required(section, "plugin");
  const secret = readSecret(section, env);
  const signature_header =
    required(section, "signature_header") === undefined ? undefined : readHeader(section, "signature_header");
  const settings = {
    max_body_bytes: readMaxBody(section),
    timestamp_header: readHeader(section, "timestamp_header") ?? null,
    tolerance_ms: section.duration("tolerance") ?? 5 * 60_000,
    dedupe_header: readHeader(section, "dedupe_header") ?? null,
    signed_payload: section.choice("signed_payload", signedPayloads) ?? "body",
    place: section.place,
  };
  const missing = headersOf(settings.signed_payload).filter((key) => settings[key] === null && !section.has(key));
  if (missing.length > 0) section.problem("signed_payload", `needs ${missing.join(" and ")}.`);
  if (section.node("tolerance") !== undefined && settings.timestamp_header === null) {
    section.warning("tolerance", "only matters with timestamp_header.");
  }
  section.finish();
  if (path === undefined || plugin === undefined || secret === undefined || signature_header === undefined)
    return undefined;
  return { path, plugin, secret, signature_header, ...settings };
}

/** The headers that a signature covers. */
function headersOf(kind: SignedPayload): readonly ("timestamp_header" | "dedupe_header")[] {
  if (kind === "body") return [];
  return kind === "timestamp.body" ? ["timestamp_header"] : ["timestamp_header", "dedupe_header"];
}

function required(section: Section, key: string): string | undefined {
  return section.has(key) ? section.text(key) : section.problemHere(`needs ${key}.`);
}

function readPath(section: Section): string | undefined {
  const text = required(section, "path");
  if (text === undefined) return undefined;
  const read = readWebhookPath(text);
  return "path" in read ? read.path : section.problem("path", read.problem);
}

/** In lower case, as headers are looked up. */
function readHeader(section: Section, key: string): string | undefined {
  const header = section.text(key);
  if (header === undefined || HEADER.test(header)) return header?.toLowerCase();
  return section.problem(key, "takes the name of a header.");
}

function readSecret(section: Section, env: Environment): string | undefined {
  const secret = section.text("secret");
  const ref = readEnvironmentRef(section, "secret_ref", env);
  if (section.has("secret") && section.has("secret_ref"))
    return section.problem("secret_ref", "and secret exclude one another.");
  if (!section.has("secret") && !section.has("secret_ref")) return section.problemHere("needs secret_ref, or secret.");
  return secret ?? ref?.value;
}

function readMaxBody(section: Section): number {
  const node = section.node("max_body_size");
  if (node === undefined) return MIB;
  const size = node.kind === "scalar" ? parseSize(node.value) : undefined;
  if (size === undefined || size < 1) section.problem("max_body_size", "takes a size such as 512KB or 2MB.");
  else if (size > LARGEST_BODY) section.problem("max_body_size", "takes at most 10MB.");
  return size ?? MIB;
}
