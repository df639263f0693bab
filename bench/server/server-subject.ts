// A server of the benchmark in a process of its own, and what it can be asked.
import { startSubject } from "../subject.ts";

export type Order =
  | { readonly do: "serve"; readonly setting: Setting }
  | { readonly do: "tell processor time" }
  | { readonly do: "measure memory" }
  | { readonly do: "send a message"; readonly thread: string };

export type Setting = {
  /** PostgreSQL, with a schema of its own; a SQLite file that waits for the disk unless given. */
  readonly postgres?: { readonly url: string; readonly schema: string };
  /** Threads of whoever holds the token, each with a message and its answer. */
  readonly threads: number;
};

/** Where a server is found, and who is let in. */
export type Served = { readonly url: string; readonly token: string; readonly threads: readonly string[] };

/** Bytes, after everything was thrown away that can be. */
export type Memory = { readonly heap: number; readonly external: number; readonly resident: number };

export type Server = Served & {
  /** Microseconds that its processor has worked for it so far, in the program and in the kernel. */
  processorTime(): Promise<number>;
  memory(): Promise<Memory>;
  /** Sends a message to a thread and waits for the answer. */
  send(thread: string): Promise<void>;
  end(): Promise<void>;
};

/** Starts the file, which answers these orders. */
export async function startServer(
  file: string,
  setting: Setting = { threads: 0 },
  flags: readonly string[] = [],
): Promise<Server> {
  const subject = startSubject<Order, unknown>(new URL(file, import.meta.url), { flags });
  const served = (await subject.ask({ do: "serve", setting })) as Served;
  return {
    ...served,
    processorTime: async () => (await subject.ask({ do: "tell processor time" })) as number,
    memory: async () => (await subject.ask({ do: "measure memory" })) as Memory,
    async send(thread) {
      await subject.ask({ do: "send a message", thread });
    },
    end: () => subject.end(),
  };
}
