// Points in time as RFC 3339 writes them.

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/** The time in UTC; undefined for what is no such time, 30 February and times without a zone included. */
export function parseRfc3339(text: string): string | undefined {
  const match = RFC_3339.exec(text.trim());
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const [zoneHour, zoneMinute] = [Number(match[8] ?? 0), Number(match[9] ?? 0)];
  if ((hour ?? 24) > 23 || (minute ?? 60) > 59 || (second ?? 60) > 59 || zoneHour > 23 || zoneMinute > 59)
    return undefined;
  if (!dayExists(year ?? 0, month ?? 0, day ?? 0)) return undefined;
  const time = Date.parse(match[0].toUpperCase().replace(" ", "T"));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** A date that does not exist turns into another one. */
function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month >= 1;
}
