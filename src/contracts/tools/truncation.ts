// Keeps a tool result within a number of bytes: too large a one is replaced by its beginning, with its citations.
import { text } from "../canonical-json.ts";
import { wholeNumber } from "../coerce.ts";
import { emptyMap, isContainer, isMap, type JsonMap, seal, type UnknownMap } from "../json.ts";
import * as citations from "./citations.ts";
import type { ToolResult } from "./result.ts";

const DEFAULT_LIMIT = 8192;

/** The outcome of a truncation; `metadata` gives the sizes in bytes and the number of citations lost. */
type Truncation = { readonly result: ToolResult; readonly truncated: boolean; readonly metadata: JsonMap };

/** A limit in bytes: at least 1, and 8192 when none is given. */
export function normalizeLimit(value: unknown): number {
  return wholeNumber(value, 1) ?? DEFAULT_LIMIT;
}

/** True only when the text of a value is sure to fit: quicker than writing it, and enough for most results. */
export function surelyFits(value: unknown, maxBytes: number): boolean {
  return left(value, maxBytes) >= 0;
}

/** The bytes that are left when a value takes the most it can. */
function left(value: unknown, bytes: number): number {
  if (typeof value === "string") return bytes - '""'.length - LONGEST_CHARACTER * value.length;
  if (!isContainer(value)) return bytes - LONGEST_SCALAR;
  let rest = bytes - "{}".length;
  for (const key in value) {
    if (rest < 0) return rest;
    const item = (value as UnknownMap)[key];
    rest = left(item, rest - '"":,'.length - LONGEST_CHARACTER * key.length);
  }
  return rest;
}

const LONGEST_CHARACTER = "\\uXXXX".length;
const LONGEST_SCALAR = "-2.2250738585072014e-308".length;

/** The result as it is when its JSON text fits the limit, else with the first `maxBytes` bytes of that text as its result. */
export function truncate(result: ToolResult, maxBytes: number): Truncation {
  const whole = text(result);
  // The text is ASCII, so a character is a byte.
  const original_bytes = whole.length;
  if (original_bytes <= maxBytes) {
    return seal({ result, truncated: false, metadata: seal({ original_bytes }) });
  }
  const ofResult = boundedCitations(result.result, maxBytes);
  const ofMetadata = boundedCitations(result.metadata, maxBytes);
  const dropped = ofResult.dropped + ofMetadata.dropped;
  const sizes = { original_bytes, excerpt_bytes: maxBytes };
  const lost = dropped > 0 ? { citations_dropped: dropped } : {};
  const {
    citations: _citations,
    citations_dropped: _dropped,
    ...metadata
  } = isMap(result.metadata) ? result.metadata : emptyMap;
  const shortened = seal({
    ...result,
    metadata: seal({ ...metadata, ...ofMetadata.kept, truncated: true, ...sizes, ...lost }),
    // In this order, which the model sees: the block is written into the tool-result message.
    result: seal({
      truncated: true,
      excerpt: beginning(whole, maxBytes),
      ...sizes,
      ...ofResult.kept,
      ...lost,
    }),
  });
  return seal({ result: shortened, truncated: true, metadata: seal({ ...sizes, ...lost }) });
}

// Copied out, because a slice keeps the whole text in memory for as long as the excerpt lives.
function beginning(whole: string, bytes: number): string {
  return Buffer.from(whole.slice(0, bytes), "latin1").toString("latin1");
}

type Bounded = { readonly kept: { readonly citations?: readonly JsonMap[] }; readonly dropped: number };

/** The first citations of a map whose list, as JSON, stays within the limit. */
function boundedCitations(holder: unknown, maxBytes: number): Bounded {
  if (!isMap(holder) || !Object.hasOwn(holder, "citations")) return { kept: {}, dropped: 0 };
  const all = citations.normalize(holder.citations);
  const fitting = countFitting(all, maxBytes);
  const dropped = all.length - fitting;
  if (fitting === 0 && dropped > 0) return { kept: {}, dropped };
  return { kept: { citations: dropped === 0 ? all : seal(all.slice(0, fitting)) }, dropped };
}

function countFitting(all: readonly JsonMap[], maxBytes: number): number {
  let bytes = "[]".length;
  for (const [index, citation] of all.entries()) {
    bytes += text(citation).length + (index > 0 ? ",".length : 0);
    if (bytes > maxBytes) return index;
  }
  return all.length;
}
