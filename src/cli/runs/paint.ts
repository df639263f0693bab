// The colours of a run.
import type { Terminal } from "../terminal.ts";
import type { LineKind } from "./draw-run.ts";
import type { Paint } from "./fit-lines.ts";

const styles: Readonly<Record<LineKind, Parameters<Terminal["style"]>[0]>> = {
  ...{ succeeded: "green", failed: "red", running: "cyan", waiting: "yellow", asks: "yellow", retrying: "yellow" },
  ...{ pending: "dim", cancelled: "dim", skipped: "dim", heading: "dim", command: "bold" },
};

export function paintWith(terminal: Pick<Terminal, "style">): Paint {
  return (kind, text) => terminal.style(styles[kind], text);
}
