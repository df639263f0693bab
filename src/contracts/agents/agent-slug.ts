// The name under which an agent is registered, stored and asked for.
import { scalarText } from "../coerce.ts";

/**
 * A name or title as a slug: small letters and digits, with one dash for each run of anything else between them. What
 * holds no letter or digit, or is no name at all, gives `""`.
 */
export function agentSlug(name: unknown): string {
  // Lowered last, because lowering turns some letters beyond ASCII into ASCII ones.
  return (scalarText(name) ?? "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();
}
