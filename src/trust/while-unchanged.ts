// What follows from a row of the database, worked out anew only when the row has changed. The row itself is read every time,
// so that nothing is ever older than what is stored.

type Columns = Readonly<Record<string, string | number | boolean | null>>;

/** Beyond so many rows those that were made first are forgotten. */
const MOST_KEPT = 1_000;

/** What `make` makes of a row, or has made of it when the row of this name was the same, column by column. */
export function whileUnchanged<Row extends Columns, Made>(
  make: (row: Row) => Made,
  mostKept = MOST_KEPT,
): (name: string, row: Row) => Made {
  const kept = new Map<string, { readonly row: Row; readonly made: Made }>();
  return (name, row) => {
    const known = kept.get(name);
    if (known && isSame(known.row, row)) return known.made;
    const made = make(row);
    kept.delete(name);
    if (kept.size >= mostKept) kept.delete(kept.keys().next().value as string);
    kept.set(name, { row, made });
    return made;
  };
}

function isSame(one: Columns, other: Columns): boolean {
  for (const column in one) if (one[column] !== other[column]) return false;
  return true;
}
