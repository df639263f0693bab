// Stands between a driver and its server, and can swallow or keep what one of them says without closing a connection.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { onTestFinished, vi } from "vitest";

type Direction = "questions" | "answers";

type Pair = {
  readonly client: Socket;
  readonly server: Socket;
  swallowed: Direction | undefined;
  /** Answers that are kept until the test hands them on. */
  kept: Buffer | undefined;
};

/** A proxy that hands bytes on until it is told to swallow those of one direction, without ever closing anything. */
export async function wireTo(url: string) {
  const address = new URL(url);
  const pairs = new Set<Pair>();
  let connections = 0;
  let silentFrom: string | undefined;
  let keptFrom: string | undefined;
  let keeping: Pair | undefined;
  let newcomers: Direction | undefined;
  const fallsSilent = Promise.withResolvers<void>();
  const connecting = vi.spyOn(Socket.prototype, "connect");

  const proxy = createServer((client) => {
    connections += 1;
    const server = connect(Number(address.port), address.hostname);
    const pair: Pair = { client, server, swallowed: newcomers, kept: undefined };
    pairs.add(pair);
    client.on("data", (bytes) => {
      if (silentFrom !== undefined && bytes.includes(silentFrom)) {
        pair.swallowed = "questions";
        fallsSilent.resolve();
      }
      if (keptFrom !== undefined && bytes.includes(keptFrom)) {
        pair.kept = Buffer.alloc(0);
        keeping = pair;
      }
      if (pair.swallowed !== "questions") server.write(bytes);
    });
    server.on("data", (bytes: Buffer) => {
      if (pair.kept) pair.kept = Buffer.concat([pair.kept, bytes]);
      else if (pair.swallowed !== "answers") client.write(bytes);
    });
    for (const [end, otherEnd] of [
      [client, server],
      [server, client],
    ] as const) {
      end.on("error", () => {});
      end.on("close", () => {
        otherEnd.destroy();
        pairs.delete(pair);
      });
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    connecting.mockRestore();
    proxy.close();
    for (const { client } of pairs) client.destroy();
  });
  const proxied = new URL(url);
  proxied.hostname = "127.0.0.1";
  proxied.port = String((proxy.address() as AddressInfo).port);

  /** The driver's end of a connection. */
  const otherEndOf = ({ client }: Pair) =>
    (connecting.mock.contexts as Socket[]).find(({ localPort }) => localPort === client.remotePort);

  return {
    url: proxied.href,
    connections: () => connections,
    /** From now on, on all connections and on those to come. */
    silence(direction: Direction) {
      newcomers = direction;
      for (const pair of pairs) pair.swallowed = direction;
    },
    /**
     * Connections made from now on work, those that are silent remain so; with a text, until the client sends it. Resolves
     * once one has fallen silent because of the text.
     */
    speakToNewcomers(until?: string): Promise<void> {
      newcomers = undefined;
      silentFrom = until;
      return fallsSilent.promise;
    },
    /** Keeps what is answered on a connection from when the client sends this text. */
    keepAnswersTo(text: string) {
      keptFrom = text;
    },
    /** Resolves once the driver has read the byte. */
    async handOnOneByte() {
      while (!keeping?.kept?.length) await new Promise(setImmediate);
      const { client, kept } = keeping;
      const end = otherEndOf(keeping);
      const before = end?.bytesRead ?? 0;
      client.write(kept.subarray(0, 1));
      keeping.kept = kept.subarray(1);
      while (end?.bytesRead === before) await new Promise(setImmediate);
    },
    handOnAll() {
      if (keeping?.kept) keeping.client.write(keeping.kept);
      if (keeping) keeping.kept = undefined;
    },
    async untilNoneIsOpen() {
      for (const { client } of [...pairs]) if (!client.closed) await once(client, "close");
    },
  };
}
