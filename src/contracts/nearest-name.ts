// Did you mean …?

const LONGEST = 64;

/** The known name that a mistyped one is most like; undefined when none is like it. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined;
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  const simplified = simplify(name);
  for (const candidate of known) {
    const other = simplify(candidate);
    const most = Math.max(1, Math.floor(candidate.length / 3));
    if (Math.abs(simplified.length - other.length) > most) continue;
    const distance = editDistance(simplified, other);
    if (distance <= most && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) {
      nearest = { name: candidate, distance };
    }
  }
  return nearest?.name;
}

/** `maxWorkers`, `max-workers` and `max_workers` are the same name. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, "");
}

/** How many letters have to be put in, left out, replaced or swapped with the next. */
function editDistance(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const replaced = at(last, column - 1) + (isSame ? 0 : 1);
      const swapped = isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
