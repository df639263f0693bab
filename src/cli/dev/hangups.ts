// SIGHUP, as an event to wait for: the gateway's configuration is to be read again, or the terminal was closed, and what ran
// in it is to end.
import { isatty } from "node:tty";

export type Hangup = { readonly type: "hung_up"; readonly isTerminalGone: boolean };

export interface Hangups {
  /** Once there was one since the last `take`. */
  next(): Promise<Hangup>;
  take(): void;
  close(): void;
}

export function listenForHangups(): Hangups {
  const terminals = [process.stdout.fd, process.stderr.fd].filter(isatty);
  let hangup = Promise.withResolvers<Hangup>();
  const onSignal = () =>
    hangup.resolve({ type: "hung_up", isTerminalGone: terminals.length > 0 && !terminals.some(isatty) });
  process.on("SIGHUP", onSignal);
  return {
    next: () => hangup.promise,
    take() {
      hangup = Promise.withResolvers();
    },
    close: () => void process.off("SIGHUP", onSignal),
  };
}
