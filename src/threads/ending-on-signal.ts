// Ending in good order: once, whoever asks, and by itself when the process is told to end.

const endSignals = ["SIGTERM", "SIGINT"] as const;

/** Runtimes of this process that come to their end because of a signal: the last one lets the process go. */
let closingOnSignal = 0;

/** `end`, to be called any number of times. With `listens` it is also called when the process gets a signal to end. */
export function endingOnSignal(listens: boolean, end: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= (async () => {
      for (const signal of endSignals) process.off(signal, onSignal);
      await end();
    })();
    return ending;
  };
  const onSignal = (signal: NodeJS.Signals) => {
    closingOnSignal++;
    void close().finally(() => {
      closingOnSignal--;
      // Whoever else listens decides how the process ends; otherwise the signal does what it does without us.
      if (closingOnSignal === 0 && process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  };
  if (listens) for (const signal of endSignals) process.once(signal, onSignal);
  return close;
}
