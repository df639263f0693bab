// A name for what a parked call waits for that no other call of any run has: providers and tools use theirs again.
import * as canonicalJson from "../contracts/canonical-json.ts";

export function nameOfWait(runKey: string, call: number): string {
  return `request-${canonicalJson.sha256(`${runKey}\n${call}`).slice(0, 32)}`;
}
