// A place in a list that stands by time, and by id what is of one time. It carries both, so that a page goes on behind it even
// when the row that it was taken from is gone, or is not shown any more.
import { compareText } from "./compare-text.ts";
import { isName } from "./storable-name.ts";

export type ListPlace = {
  /** Microseconds on the database's clock. */
  readonly created_at: number;
  readonly id: string;
};

/** The comparison by which the rows are ordered in SQL. */
export function comparePlaces(one: ListPlace, other: ListPlace): number {
  return one.created_at - other.created_at || compareText(one.id, other.id);
}

/** How much longer the text of a place is than the id in it. */
export const PLACE_LENGTH = 17;

/** As a text, for whoever asks for the page behind it. */
export function writePlace({ created_at, id }: ListPlace): string {
  return `${created_at}:${id}`;
}

/** Undefined for what is no place. */
export function readPlace(text: string): ListPlace | undefined {
  const colon = text.indexOf(":");
  const [time, id] = [text.slice(0, Math.max(colon, 0)), text.slice(colon + 1)];
  const created_at = /^\d{1,16}$/.test(time) ? Number(time) : Number.NaN;
  return Number.isSafeInteger(created_at) && isName(id) ? { created_at, id } : undefined;
}
