// A subject of the benchmark in a process of its own, as in a program that uses nothing else: what another subject leaves
// in the heap or teaches the compiler does not reach it. It does one thing at a time, when it is asked to.
import { fork } from "node:child_process";
import { once } from "node:events";

export type Subject<Order, Answer> = {
  ask(order: Order): Promise<Answer>;
  end(): Promise<void>;
  /** It ends without a chance to tidy up. */
  kill(): Promise<void>;
};

/** Starts the file, which is to call `answerOrders`. */
export function startSubject<Order, Answer>(
  file: URL,
  { args = [], flags = [] }: { readonly args?: readonly string[]; readonly flags?: readonly string[] } = {},
): Subject<Order, Answer> {
  const child = fork(file, args, { execArgv: [...flags] });
  const ended = once(child, "exit");
  const failed = ended.then(([code, signal]) => {
    throw new Error(`The process of ${file.pathname.split("/").at(-1)} ended with ${code ?? signal}.`);
  });
  failed.catch(() => undefined);
  return {
    async ask(order) {
      const answered = once(child, "message");
      child.send(order as object);
      const [answer] = await Promise.race([answered, failed]);
      return answer;
    },
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * In the subject's process: does what is asked, one order after another. The process ends with an error, with `end`, and
 * when whoever started it is gone.
 */
export function answerOrders<Order, Answer>(answer: (order: Order) => Answer | Promise<Answer>): void {
  process.on("message", async (order: Order) => {
    process.send?.(await answer(order));
  });
  process.once("disconnect", () => process.exit());
}
