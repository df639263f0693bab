// What words are compared by, so that "refunds", "refunded" and "refunding" are one.

const endings = ["ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y"];

/** The word in small letters without its ending. Crude, and the same for every word that is compared. */
export function stem(word: string): string {
  const [plain = ""] = word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").split(/[’']/u, 1);
  const whole = plain.replace(/^e-?mail/, "mail");
  const ending = endings.find((each) => whole.endsWith(each) && whole.length - each.length >= 3);
  const cut = ending === undefined ? whole : whole.slice(0, -ending.length);
  // As in "cancelled" and "stopping".
  return /([^aeiou])\1$/.test(cut) && cut.length > 3 ? cut.slice(0, -1) : cut;
}

/** The stems of a name such as `party_size`, `orderId` or `shop/refund`. */
export function stemsOf(name: string): readonly string[] {
  const spaced = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2");
  return (spaced.match(/\p{L}[\p{L}\p{M}’']*|\p{N}+/gu) ?? []).map(stem);
}
