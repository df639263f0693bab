// SIGHUP makes a running server read its gateway's configuration again.
import { HoldfastError } from "../contracts/error.ts";
import type { Holdfast } from "../holdfast.ts";
import { loadedText } from "./gateway/loaded-text.ts";
import type { Terminal } from "./terminal.ts";

/** Until the returned function is called. An invalid configuration is reported, and the running one stays. */
export function reloadOnHangup({ gateway }: Pick<Holdfast, "gateway">, terminal: Terminal): () => void {
  if (!gateway) return () => undefined;
  const reload = () => {
    gateway.reload().then(
      (loaded) => terminal.note(`Reloaded: ${loadedText(loaded)}.`),
      (thrown: unknown) => terminal.note(thrown instanceof HoldfastError ? thrown.detail : String(thrown)),
    );
  };
  process.on("SIGHUP", reload);
  return () => void process.off("SIGHUP", reload);
}
