// Tables as they stand in a page of results.

/** The first column holds names, the others figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Whole, with commas, from a thousand on; with as many decimals as say something below. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${figure(ratio)} ×` : "–";
}
