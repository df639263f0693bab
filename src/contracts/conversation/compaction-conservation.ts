// How much of what was said survives a compaction, counted in bytes, and whether that is enough.
import { byteLength, text } from "../canonical-json.ts";
import { numeric, truthy } from "../coerce.ts";
import { isMap, type JsonMap, snapshot, snapshotMap } from "../json.ts";

/** What went into a compaction and what came out of it; an item is a message or anything else that was said. */
export type Conservation = {
  readonly policy?: unknown;
  readonly original_items?: unknown;
  readonly compacted_items?: unknown;
  readonly retained_items?: unknown;
  readonly archived_items?: unknown;
  /** Fields to put first; those of the contract win over them. */
  readonly extra?: unknown;
};

/** The account of a compaction: the policy it was judged by, where the bytes went, and the verdict. */
export function metadata(input: Conservation): JsonMap {
  const given = snapshotMap(input.policy);
  const ratio = conservedRatio(given.minimum_conserved_byte_ratio);
  const enabled = flag(given.conservation_enabled, false);
  const failsClosed = flag(given.fail_on_conservation_failure, true);
  const provenance = {
    original: tally(input.original_items),
    compacted: tally(input.compacted_items),
    retained: tally(input.retained_items),
    archived: tally(input.archived_items),
  };
  const original = provenance.original.byte_count;
  const required = Math.ceil(original * ratio);
  const conserved = provenance.compacted.byte_count + provenance.retained.byte_count + provenance.archived.byte_count;
  const passed = !enabled || conserved >= required;
  return snapshotMap({
    ...snapshotMap(input.extra),
    policy: {
      ...given,
      conservation_enabled: enabled,
      minimum_conserved_byte_ratio: ratio,
      fail_on_conservation_failure: failsClosed,
    },
    provenance,
    summarizer: { provider: name(given.summary_provider), model: name(given.summary_model) },
    conservation: {
      enabled,
      minimum_conserved_byte_ratio: ratio,
      required_byte_count: required,
      conserved_byte_count: conserved,
      conserved_byte_ratio: original === 0 ? 1 : conserved / original,
      passed,
      failed_closed: enabled && failsClosed && !passed,
    },
  });
}

/** The share of bytes that must survive: at least zero, and all of them unless a number or a text says otherwise. */
export function conservedRatio(value: unknown): number {
  if (typeof value !== "number" && typeof value !== "string") return 1;
  return Math.max(0, numeric(value) ?? 0);
}

/** A policy's switch. One that is absent stands as the contract leaves it; an explicit null replaces that, and is off. */
export function flag(value: unknown, fallback: boolean): boolean {
  return value === undefined ? fallback : truthy(value);
}

function tally(items: unknown): { item_count: number; byte_count: number } {
  if (!Array.isArray(items)) return { item_count: 0, byte_count: 0 };
  let bytes = 0;
  for (const item of items) bytes += itemBytes(item);
  return { item_count: items.length, byte_count: bytes };
}

function itemBytes(item: unknown): number {
  const said = isMap(item) && Object.hasOwn(item, "content") ? item.content : item;
  return byteLength(typeof said === "string" ? said : text(snapshot(said)));
}

function name(value: unknown): string {
  return typeof value === "string" ? value : "";
}
