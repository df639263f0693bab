// SIGHUP makes a running server read its gateway's configuration again.
import { HoldfastError } from "../contracts/error.ts";
import type { Holdfast } from "../holdfast.ts";
import { loadedText } from "./gateway/loaded-text.ts";
import type { Terminal } from "./terminal.ts";

/** Until the returned function is called. An invalid configuration is reported, and the running one stays. */
export function reloadOnHangup({ gateway }: Pick<Holdfast, "gateway">, terminal: Terminal): () => void {
  if (!gateway) return () => undefined;
  const reload = () => void reloadGateway(gateway).then(terminal.note);
  process.on("SIGHUP", reload);
  return () => void process.off("SIGHUP", reload);
}

/** What came of it, in words. */
export async function reloadGateway(gateway: Holdfast["gateway"]): Promise<string> {
  if (!gateway) return "There is no gateway whose configuration could be read again.";
  try {
    return `Reloaded: ${loadedText(await gateway.reload())}.`;
  } catch (thrown) {
    return thrown instanceof HoldfastError ? thrown.detail : String(thrown);
  }
}
