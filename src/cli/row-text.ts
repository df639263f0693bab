// Rows of answers as text for a terminal.

export type Row = { readonly [key: string]: unknown };

/** Names and values, for a table. */
export function entries(row: Row): (readonly [string, string])[] {
  return Object.entries(row).map(([name, value]) => [
    name,
    typeof value === "object" && value !== null ? JSON.stringify(value) : String(value),
  ]);
}

/** On one line, and cut after 100 characters. */
export function shortly(value: unknown): string {
  const text = value === undefined || value === null ? "" : String(value).replaceAll(/\s+/g, " ");
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
