// The order of text in every list: that of its UTF-8 bytes, as both databases compare it.

/** For sorting: negative when `one` comes first, positive when `other` does, 0 when they are equal. */
export function compareText(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) {
    const difference = rankOf(one.charCodeAt(at)) - rankOf(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Half of a surrogate pair stands for a character behind all those that are one unit long. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
