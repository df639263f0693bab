// Asks a server as fast as it answers, over connections that stay open, one request after another on each. Bytes are
// written and counted with as little work as possible, so that the server is what is measured and not this.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { quantile } from "../median.ts";
import { answerOrders } from "../subject.ts";

export type Order = {
  readonly url: string;
  readonly token: string;
  /** Asked for in turn, each by one connection only as long as there are enough. */
  readonly requests: readonly { readonly method: "GET" | "POST"; readonly path: string; readonly body?: string }[];
  readonly connections: number;
  readonly milliseconds: number;
};

export type Answer = { readonly answers: number; readonly perSecond: number; readonly p99: number };

answerOrders(async ({ url, token, requests, connections, milliseconds }: Order): Promise<Answer> => {
  const { hostname, port, host } = new URL(url);
  const texts = requests.map(({ method, path, body = "" }) => requestText({ host, token, method, path, body }));
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(Number(port), hostname)));
  const latencies: number[] = [];
  const rest = stayAwake();
  const begun = performance.now();
  await Promise.all(
    sockets.map(async (opened, index) => {
      const own = texts.filter((_, place) => place % connections === index % texts.length);
      const took = await askAgain(opened, own, begun + milliseconds);
      for (const each of took) latencies.push(each);
    }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  rest();
  return { answers: latencies.length, perSecond: latencies.length / seconds, p99: quantile(latencies, 0.99) };
});

/**
 * Keeps this process from sleeping until the returned function is called. Whoever sleeps has to be woken, and on a virtual
 * machine that takes as long as a short answer and is charged to the server which writes it. Real clients are elsewhere.
 */
function stayAwake(): () => void {
  let isAwake = true;
  const turn = () => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return () => {
    isAwake = false;
  };
}

type Opened = { readonly socket: Socket; onPiece: (piece: string) => void };

/** Bytes are read into one place over and over, past the machinery of streams. */
async function open(port: number, host: string): Promise<Opened> {
  const opened: { socket?: Socket; onPiece: (piece: string) => void } = { onPiece: () => undefined };
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback(bytes: number, buffer: Uint8Array) {
      opened.onPiece((buffer as Buffer).toString("latin1", 0, bytes));
      return true;
    },
  };
  const socket = connect({ port, host, onread }).setNoDelay();
  await once(socket, "connect");
  return Object.assign(opened, { socket });
}

type Request = { readonly host: string; readonly token: string } & Required<Order["requests"][number]>;

function requestText({ host, token, method, path, body }: Request): string {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** Asks until it is time to end; answers with how many milliseconds each answer took. */
function askAgain(open: Opened, texts: readonly string[], end: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const took: number[] = [];
    let asked = 0;
    let at = 0;
    let answer = "";
    const { socket } = open;
    const ask = () => {
      at = performance.now();
      socket.write(texts[asked++ % texts.length] ?? "", "latin1");
    };
    open.onPiece = (piece) => {
      answer += piece;
      if (!isWhole(answer)) return;
      if (!answer.startsWith("HTTP/1.1 20")) return reject(new Error(`The server answered ${answer}`));
      const now = performance.now();
      took.push(now - at);
      answer = "";
      if (now < end) return ask();
      socket.destroy();
      resolve(took);
    };
    socket.once("error", reject);
    socket.once("end", () => reject(new Error("The server has closed a connection.")));
    ask();
  });
}

/** True when an answer has come to its end: there is only one on its way. */
function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  if (head === -1) return false;
  const named = answer.toLowerCase().indexOf(LENGTH);
  if (named === -1 || named > head) return answer.endsWith("\r\n0\r\n\r\n");
  const length = Number.parseInt(answer.slice(named + LENGTH.length, named + LENGTH.length + 10), 10);
  assert.ok(answer.length <= head + 4 + length, "the server has sent more than was asked for");
  return answer.length === head + 4 + length;
}

const LENGTH = "\r\ncontent-length: ";
