// One entry of a conversation, exactly as it is stored and sent: a typed envelope that every transcript consists of.
import { z } from "zod";
import { createBrand } from "../brand.ts";
import { nonEmptyString, numeric } from "../coerce.ts";
import { HoldfastError, holdfastError } from "../error.ts";
import {
  asMap,
  emptyMap,
  isContainer,
  isEmpty,
  isMap,
  type Json,
  type JsonMap,
  seal,
  sealParsed,
  snapshot,
  type UnknownMap,
} from "../json.ts";

export const SCHEMA = "agents-api.message";

const messageTypes = [
  "text",
  "tool_call",
  "tool_result",
  "input_required",
  "approval_required",
  "final_result",
  "error",
  "delta",
  "multimodal_part",
] as const;

const jsonMap: z.ZodType<JsonMap> = z.record(z.string(), z.json());
const contentSchema: z.ZodType<string | readonly Json[] | JsonMap> = z.union([z.string(), z.array(z.json()), jsonMap]);

/** The canonical envelope. What a payload holds depends on the type and is not checked: old rows hold less. */
export const messageSchema = z
  .object({
    schema: z.literal(SCHEMA),
    version: z.literal(1),
    type: z.enum(messageTypes),
    role: z.string().min(1),
    content: contentSchema,
    payload: jsonMap,
    metadata: jsonMap,
    id: z.string().min(1).exactOptional(),
    created_at: z.string().min(1).exactOptional(),
    updated_at: z.string().min(1).exactOptional(),
  })
  .readonly();

export type Message = z.infer<typeof messageSchema>;
type MessageType = Message["type"];
type Content = Message["content"];

// Every envelope made here is frozen all the way down, so seeing one again is enough to know that it is canonical.
const produced = createBrand();

/**
 * The envelope of a plain `{ role, content, metadata }` row or of an envelope in any accepted form; one that this
 * module made is returned as it is. Throws `invalid_ai_message_envelope`.
 */
export function normalize(value: unknown): Message {
  const given = asMap(value);
  if (given === undefined) throw invalid("must be a map");
  if (isProduced(given)) return given;
  return isEnvelope(given) ? fromEnvelope(given) : fromPlain(given);
}

/** The envelope that was stored as a text. One that this module has written is as it has to be, and is not read again. */
export function fromStored(stored: string): Message {
  const value: unknown = JSON.parse(stored);
  if (!isMap(value) || !isCanonical(value)) return normalize(value);
  // Marked before it is frozen.
  produced.mark(value);
  return sealParsed(value) as unknown as Message;
}

function isCanonical(value: UnknownMap): boolean {
  const { schema, version, type, role, content, payload, metadata } = value;
  const isWhole = schema === SCHEMA && version === 1 && isMessageType(type) && nonEmptyString(role) !== undefined;
  const areParts = isMap(payload) && isMap(metadata) && (typeof content === "string" || isContainer(content));
  return isWhole && areParts && Object.keys(value).every((field) => isField(field, value[field]));
}

function isField(field: string, value: unknown): boolean {
  const isOptional = field === "id" || field === "created_at" || field === "updated_at";
  return isOptional ? nonEmptyString(value) !== undefined : Object.hasOwn(messageSchema.unwrap().shape, field);
}

/** A fresh list with every message normalised; an error names the entry as `messages[i]`, counted from `first`. */
export function normalizeMany(values: unknown, first = 0): readonly Message[] {
  if (!Array.isArray(values)) {
    if (isMap(values) && isEmpty(values)) return [];
    throw invalid("messages must be a list");
  }
  const messages: Message[] = new Array(values.length);
  let index = 0;
  try {
    for (; index < values.length; index++) messages[index] = normalize(values[index]);
  } catch (thrown) {
    throw invalid(
      `messages[${first + index}] ${thrown instanceof HoldfastError ? thrown.detail : "cannot be read"}`,
      thrown,
    );
  }
  return seal(messages);
}

/** A text message; like in a plain row, its content and `metadata.type` may make it another type. */
export function text(role: string, content: Content, metadata?: JsonMap): Message {
  const kept = mapPart(metadata, "metadata");
  const body = contentPart(content);
  return envelope(inferredType(body, kept), rolePart(role, "text"), body, emptyMap, kept);
}

/** The message that records a call; its parameters must be the exposed ones, never raw secrets. */
export function toolCall(input: {
  content?: Content;
  tool_name: string;
  parameters: JsonMap;
  turn: number;
  metadata?: JsonMap;
}): Message {
  const parameters = mapPart(input.parameters, "parameters");
  const payload = seal({ tool_name: input.tool_name, parameters, turn: input.turn });
  return envelope("tool_call", "assistant", contentPart(input.content), payload, mapPart(input.metadata, "metadata"));
}

/** The message that answers a call. It is made with role `user`, which providers take where they refuse `tool`. */
export function toolResult(input: {
  content?: Content;
  tool_name: string;
  payload: JsonMap;
  metadata?: JsonMap;
}): Message {
  const given = mapPart(input.payload, "payload");
  const payload = given.tool_name === input.tool_name ? given : seal({ ...given, tool_name: input.tool_name });
  return envelope("tool_result", "user", contentPart(input.content), payload, mapPart(input.metadata, "metadata"));
}

/** The message that asks a person to approve an action. */
export function approvalRequired(input: { content?: Content; payload: JsonMap; metadata?: JsonMap }): Message {
  const payload = mapPart(input.payload, "payload");
  return envelope(
    "approval_required",
    "tool",
    contentPart(input.content),
    payload,
    mapPart(input.metadata, "metadata"),
  );
}

/** What a provider is sent of a message. */
export type ProviderMessage = {
  readonly role: string;
  readonly content: Content;
  readonly metadata?: JsonMap;
};

/** The provider's row of a message: type and payload folded into the metadata, ids and times left out. */
export function toProvider(message: unknown): ProviderMessage {
  const { type, role, content, payload, metadata } = normalize(message);
  if (type === "text" && isEmpty(payload) && isEmpty(metadata)) return seal({ role, content });
  const folded: Record<string, Json> = { ...metadata, type };
  for (const key of Object.keys(payload)) {
    const item = payload[key];
    if (item !== undefined && !Object.hasOwn(folded, key)) folded[key] = item;
  }
  return seal({ role, content, metadata: seal(folded) });
}

/** `toProvider` for a list. */
export function toProviderMany(messages: unknown): readonly ProviderMessage[] {
  return normalizeMany(messages).map(toProvider);
}

/** Neighbours of one role merged into one `multimodal_part`, for providers that want roles to alternate. */
export function coalesce(messages: unknown): readonly Message[] {
  const runs: Message[][] = [];
  for (const message of normalizeMany(messages)) {
    const run = runs.at(-1);
    if (run?.[0]?.role === message.role) run.push(message);
    else runs.push([message]);
  }
  return seal(runs.map(merge).filter((message) => message !== undefined));
}

function merge(run: readonly Message[]): Message | undefined {
  const first = run[0];
  if (first === undefined || run.length === 1) return first;
  const parts = run.flatMap(partsOf);
  const texts = parts.map((part) => (part.type === "text" ? part.content : "")).filter(nonEmptyString);
  const payload = seal({ parts: seal(parts) });
  return envelope("multimodal_part", first.role, texts.join("\n\n"), payload, first.metadata);
}

function partsOf(message: Message): JsonMap[] {
  const parts = message.type === "multimodal_part" ? message.payload.parts : undefined;
  return isContainer(parts) ? Object.values<Json>(parts).filter(isJsonMap) : [message];
}

function isJsonMap(value: Json): value is JsonMap {
  return isMap(value);
}

function isProduced(value: UnknownMap): value is Message {
  return produced.has(value);
}

function isEnvelope(value: UnknownMap): boolean {
  if (value.version == null || value.type == null) return false;
  return value.schema != null || value.payload !== undefined || value.data !== undefined;
}

function fromEnvelope(value: UnknownMap): Message {
  const { version, type } = value;
  if (version !== 1 && !(typeof version === "string" && numeric(version) === 1)) throw invalid("version must be 1");
  if (!isMessageType(type)) throw invalid(`type must be one of ${messageTypes.join(", ")}`);
  const given = mapPart(value.payload, "payload");
  const payload = isEmpty(given) ? mapPart(value.data, "data") : given;
  return fromParts(value, type, contentPart(value.content), payload, mapPart(value.metadata, "metadata"));
}

function fromPlain(value: UnknownMap): Message {
  const metadata = mapPart(value.metadata, "metadata");
  const body = contentPart(value.content);
  const type = inferredType(body, metadata);
  return fromParts(value, type, body, plainPayload(type, metadata), metadata);
}

function fromParts(value: UnknownMap, type: MessageType, body: Content, payload: JsonMap, metadata: JsonMap): Message {
  const role = rolePart(value.role, type);
  const id = nonEmptyString(value.id);
  const created_at = nonEmptyString(value.created_at);
  const updated_at = nonEmptyString(value.updated_at);
  if (id === undefined && created_at === undefined && updated_at === undefined) {
    return envelope(type, role, body, payload, metadata);
  }
  return produce({
    ...{ schema: SCHEMA, version: 1, type, role, content: body, payload, metadata },
    ...(id !== undefined && { id }),
    ...(created_at !== undefined && { created_at }),
    ...(updated_at !== undefined && { updated_at }),
  });
}

function envelope(type: MessageType, role: string, body: Content, payload: JsonMap, metadata: JsonMap): Message {
  return produce({ schema: SCHEMA, version: 1, type, role, content: body, payload, metadata });
}

function produce(message: Message): Message {
  produced.mark(message);
  return seal(message);
}

function inferredType(body: Content, metadata: JsonMap): MessageType {
  if (isMessageType(metadata.type)) return metadata.type;
  if (metadata.type === "multimodal" || typeof body !== "string") return "multimodal_part";
  return metadata.error != null ? "error" : "text";
}

/** Where plain rows keep what an envelope of the type has in its payload. */
const plainFields: { readonly [Type in MessageType]?: readonly string[] } = {
  tool_call: ["tool_name", "parameters", "turn"],
  tool_result: ["tool_name", "success", "turn", "tool_data", "media", "error"],
};

function plainPayload(type: MessageType, metadata: JsonMap): JsonMap {
  const fields = plainFields[type];
  if (fields === undefined) return emptyMap;
  const payload: Record<string, Json> = {};
  for (const field of fields) {
    const item = metadata[field];
    if (item !== undefined) payload[field] = item;
  }
  return seal(payload);
}

const supportedTypes: ReadonlySet<unknown> = new Set(messageTypes);

function isMessageType(value: unknown): value is MessageType {
  return supportedTypes.has(value);
}

const toolRoleTypes: ReadonlySet<MessageType> = new Set(["tool_result", "input_required", "approval_required"]);

function rolePart(value: unknown, type: MessageType): string {
  if (value == null) return toolRoleTypes.has(type) ? "tool" : "assistant";
  if (typeof value !== "string" || value === "") throw invalid("role must be a non-empty string");
  return value;
}

function contentPart(value: unknown): Content {
  if (typeof value === "string") return value;
  if (value == null) return "";
  const copied = jsonPart(value, "content");
  if (typeof copied !== "string" && !isContainer(copied)) throw invalid("content must be a string, a list or a map");
  return copied;
}

function mapPart(value: unknown, field: string): JsonMap {
  if (!isMap(value) || isEmpty(value)) return emptyMap;
  const copied = jsonPart(value, field);
  return isMap(copied) ? copied : emptyMap;
}

function jsonPart(value: unknown, field: string): Json {
  try {
    return snapshot(value);
  } catch (thrown) {
    throw invalid(`${field} cannot be written as JSON`, thrown);
  }
}

function invalid(detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_ai_message_envelope", detail, cause);
}
