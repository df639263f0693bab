// Readers of streams, thousands of them in one process: each has a connection of its own and waits for what comes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { answerOrders } from "../subject.ts";

export type Order =
  /** So many readers more, on these threads in turn. */
  | {
      readonly do: "open";
      readonly url: string;
      readonly token: string;
      readonly threads: readonly string[];
      readonly readers: number;
    }
  /** Waits until every reader of the thread has heard that its run has ended. */
  | { readonly do: "hear"; readonly thread: string };

/** How many have heard anything, of the thread's readers and of all others. */
export type Answer = { readonly own: number; readonly others: number };

type Reader = { readonly thread: string; readonly socket: Socket; heard: string };

const readers: Reader[] = [];
const AT_A_TIME = 50;

answerOrders(async (order: Order): Promise<Answer> => {
  if (order.do === "open") {
    for (let opened = 0; opened < order.readers; opened += AT_A_TIME) {
      const count = Math.min(AT_A_TIME, order.readers - opened);
      await Promise.all(Array.from({ length: count }, () => open(order)));
    }
    return { own: 0, others: 0 };
  }
  const own = readers.filter(({ thread }) => thread === order.thread);
  await Promise.all(own.map((reader) => until(reader, "run.ended")));
  const others = readers.filter(({ thread, heard }) => thread !== order.thread && heard.includes("data:"));
  return { own: own.length, others: others.length };
});

async function open({ url, token, threads }: Extract<Order, { do: "open" }>): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const thread = threads[readers.length % threads.length] ?? "";
  const socket = connect(Number(port), hostname);
  const reader: Reader = { thread, socket, heard: "" };
  readers.push(reader);
  socket.setEncoding("latin1");
  socket.on("data", (piece: string) => {
    reader.heard += piece;
  });
  const head = [
    `GET /threads/${thread}/stream?after=now HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    "Accept: text/event-stream",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await until(reader, "retry:");
  assert.match(reader.heard, /^HTTP\/1\.1 200 /);
}

async function until(reader: Reader, word: string): Promise<void> {
  while (!reader.heard.includes(word)) {
    assert.ok(!reader.socket.readableEnded, `the server has closed a stream: ${reader.heard}`);
    await Promise.race([once(reader.socket, "data"), once(reader.socket, "end")]);
  }
}
