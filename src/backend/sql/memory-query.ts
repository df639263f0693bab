// A query of memories as SQL: its filters, and the order that it asks for.
import type { CompleteQuery } from "../../contracts/memory/memory-query.ts";
import type { Scalar } from "../sql-driver.ts";
import { storable } from "./memory-rows.ts";

export type Condition = {
  /** With `and` in front of each part; empty where everything passes. */
  readonly where: string;
  readonly params: readonly Scalar[];
};

/** The filters of a query, with placeholders behind those that are in use. Whoever lacks a value passes no filter on it. */
export function filtersOf(query: CompleteQuery, placeholders: number): Condition {
  const params: Scalar[] = [];
  const place = (value: Scalar) => `$${placeholders + params.push(value)}`;
  const among = (column: string, values: readonly string[]) =>
    values.length === 0 ? "" : ` and ${column} in (${values.map((value) => place(storable(value))).join(", ")})`;
  const { source_types, min_confidence, authority_tiers, validators } = query;
  const where = [
    among("source_type", source_types),
    min_confidence === null ? "" : ` and confidence >= cast(${place(min_confidence)} as double precision)`,
    among("authority_tier", authority_tiers),
    among("validator", validators),
  ].join("");
  return { where, params };
}

const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["confidence", "confidence"],
  ["authority_tier", "authority_rank"],
  ["created_at", "created_at"],
  ["updated_at", "updated_at"],
]);

/** Empty where the query asks for no order, or for one by a field that has none. */
export function rankingOf({ order_by, order }: CompleteQuery): string {
  const column = COLUMNS.get(order_by ?? "");
  return column === undefined ? "" : `${column} ${order} nulls last, `;
}
