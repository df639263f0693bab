// Sizes as configurations write them.

const KIB = 1024;
const units: Readonly<Record<string, number>> = { b: 1, kb: KIB, kib: KIB, mb: KIB ** 2, mib: KIB ** 2 };

/** Bytes of `2MB`, `512KB`, `1 MiB` or a number; KB and MB are powers of 1024, as in the reference. */
export function parseSize(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const match = typeof value === "string" ? /^(\d{1,12}(?:\.\d{1,6})?)\s*([a-z]*)$/i.exec(value.trim()) : null;
  const name = (match?.[2] || "b").toLowerCase();
  const unit = Object.hasOwn(units, name) ? units[name] : undefined;
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}
