/** By their positions, level by level: "2" stands before "10", and a step before what stands inside it. */
export function comparePaths(one: string, other: string): number {
  const [ones, others] = [one.split("/"), other.split("/")];
  for (const [level, position] of ones.entries()) {
    const beside = others[level];
    if (beside === undefined) return 1;
    if (position !== beside) return Number(position) - Number(beside) || (position < beside ? -1 : 1);
  }
  return ones.length - others.length;
}
