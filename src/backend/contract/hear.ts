// Listening to a driver in a test.
import type { SqlDriver } from "../sql-driver.ts";

/** What a driver signals, one after another. */
export function hear(driver: SqlDriver): { next(): Promise<string> } {
  const heard: string[] = [];
  let wake = () => {};
  driver.listen((text) => {
    heard.push(text);
    wake();
  });
  return {
    async next() {
      for (;;) {
        const text = heard.shift();
        if (text !== undefined) return text;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
