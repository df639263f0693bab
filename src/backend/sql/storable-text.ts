// Text as every database can hold it.

/** The text without zeros: PostgreSQL has no place for them. JSON needs none of this, there they are written out. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "");
}
