// Whether a stranger could verify all that is stored, whatever has happened to those who wrote it.
import { verifyAudit } from "../../src/contracts/audit/verify-audit.ts";
import type { Holdfast } from "../../src/holdfast.ts";

/** A sentence if not. Of one thread, or of all of them unless given. */
export async function checkAudit({ audit }: Holdfast, thread?: string): Promise<readonly string[]> {
  const verdict = verifyAudit(await audit.export(thread === undefined ? {} : { thread }), audit.publicKey);
  return verdict.ok ? [] : [`the audit does not hold: ${JSON.stringify(verdict.broken)}`];
}
