// Optional fields, for those who tell one that is absent from one that is undefined.

/** The fields that were given. */
export function defined<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields]: Exclude<Fields[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
