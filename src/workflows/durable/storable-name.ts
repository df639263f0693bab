/** A line of a list is enough for a name. */
const LONGEST_NAME = 500;

/** A name that came out of a binding, as a column can hold it: no text of a database may hold a zero. */
export function storableName(name: string): string {
  return name.replaceAll("\0", "").toWellFormed().slice(0, LONGEST_NAME);
}
