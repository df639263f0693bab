// SIGHUP makes a running server read its gateway's configuration again.
import { HoldfastError } from "../contracts/error.ts";
import type { Holdfast } from "../holdfast.ts";
import type { Terminal } from "./terminal.ts";

/** Until the returned function is called. An invalid configuration is reported, and the running one stays. */
export function reloadOnHangup({ gateway }: Pick<Holdfast, "gateway">, terminal: Terminal): () => void {
  if (!gateway) return () => undefined;
  const reload = () => {
    gateway.reload().then(
      ({ plugins, pipelines }) => terminal.note(`Reloaded: ${plugins} plugins, ${pipelines} pipelines.`),
      (thrown: unknown) => terminal.note(thrown instanceof HoldfastError ? thrown.detail : String(thrown)),
    );
  };
  process.on("SIGHUP", reload);
  return () => void process.off("SIGHUP", reload);
}
