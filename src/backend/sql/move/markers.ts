// What a database says of itself when it was moved, or is being filled: a line each in its own table of facts.
import type { Statement } from "../../sql-driver.ts";
import * as rows from "../rows.ts";
import type { Reader } from "./catalogue.ts";

/** On the database that is left. While it is `moving` somebody is at work, or was. */
export type Departure = { readonly move: string; readonly to: string; readonly state: "moving" | "moved" };

/** On the database that is filled. Once it is `verified`, only the old one has to be closed for good. */
export type Arrival = { readonly move: string; readonly from: string; readonly state: "copying" | "verified" };

/** A marker and the very text that it is stored as: changing it is bound to that text, so that one of two succeeds. */
export type Kept<Marker> = Marker & { readonly text: string };

const DEPARTURE = "moved_to";
const ARRIVAL = "incomplete_move";

export async function markersOf(
  reader: Reader,
): Promise<{ readonly departure: Kept<Departure> | undefined; readonly arrival: Kept<Arrival> | undefined }> {
  const found = await reader.all("select name, value from meta where name in ($1, $2)", [DEPARTURE, ARRIVAL]);
  const texts = new Map(found.map(({ name, value }) => [rows.text(name), rows.text(value)]));
  return { departure: kept<Departure>(texts.get(DEPARTURE)), arrival: kept<Arrival>(texts.get(ARRIVAL)) };
}

function kept<Marker>(text: string | undefined): Kept<Marker> | undefined {
  return text === undefined ? undefined : { ...(JSON.parse(text) as Marker), text };
}

/** Each refuses the batch that it is part of unless the marker is the one that is expected, undefined for none. */
export const departureChange = (from: Kept<Departure> | undefined, to: Departure | undefined) =>
  change(DEPARTURE, from?.text, to);
export const arrivalChange = (from: Kept<Arrival> | undefined, to: Arrival | undefined) =>
  change(ARRIVAL, from?.text, to);

export function withText<Marker extends Departure | Arrival>(marker: Marker): Kept<Marker> {
  return { ...marker, text: textOf(marker) };
}

/** In front of what is written to a database that is being filled: nothing, once somebody else fills it. */
export function whileArriving({ text }: Kept<Arrival>): Statement {
  const sql = "select name from meta where name = $1 and value = $2 /*for update*/";
  return { sql, params: [ARRIVAL, text], expect: 1 };
}

/** The session that whoever moves a database holds on both. */
export function sessionOf({ move }: Departure | Arrival): string {
  return `move ${move}`;
}

function change(name: string, from: string | undefined, to: Departure | Arrival | undefined): Statement {
  if (from === undefined) {
    const sql = "insert into meta (name, value) values ($1, $2) on conflict (name) do nothing";
    return { sql, params: [name, to ? textOf(to) : ""], expect: 1 };
  }
  if (!to) return { sql: "delete from meta where name = $1 and value = $2", params: [name, from], expect: 1 };
  const sql = "update meta set value = $3 where name = $1 and value = $2";
  return { sql, params: [name, from, textOf(to)], expect: 1 };
}

/** The fields in one order, whatever else the value has. */
function textOf(marker: Departure | Arrival): string {
  const { move, state } = marker;
  return JSON.stringify("to" in marker ? { move, to: marker.to, state } : { move, from: marker.from, state });
}
