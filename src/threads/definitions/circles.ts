// Definitions that lead back to themselves, and so would never come to an end.

/** One circle for each of them, from the name that was reached first: `["a", "b", "a"]`. */
export function circles(
  names: Iterable<string>,
  next: (name: string) => readonly string[],
): readonly (readonly [string, ...string[]])[] {
  const found: [string, ...string[]][] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    const start = path.indexOf(name);
    if (start !== -1) found.push([name, ...path.slice(start + 1), name]);
    if (start !== -1 || done.has(name)) return;
    for (const each of next(name)) visit(each, [...path, name]);
    done.add(name);
  };
  for (const name of names) visit(name, []);
  return found;
}
