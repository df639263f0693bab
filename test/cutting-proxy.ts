// Stands between a client and a server and cuts connections after so many bytes of the answer, one after another as told;
// once it was told nothing more it cuts none.
import { connect, createServer, type Socket } from "node:net";

export type CuttingProxy = {
  readonly url: string;
  /** How many connections were cut. */
  cuts(): number;
  close(): Promise<void>;
};

export async function startCuttingProxy(target: string, lengths: readonly number[]): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  let connections = 0;
  let cuts = 0;
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    const length = lengths[connections++];
    const upstream = connect(Number(port), hostname);
    let passed = 0;
    const end = () => {
      clients.delete(client);
      client.destroy();
      upstream.destroy();
    };
    client.pipe(upstream);
    upstream.on("data", (data: Buffer) => {
      const left = length === undefined ? data.length : Math.max(0, length - passed);
      passed += data.length;
      if (data.length < left || length === undefined) {
        client.write(data);
        return;
      }
      cuts++;
      // What came before the cut still gets there.
      client.end(data.subarray(0, left), end);
    });
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${own}`,
    cuts: () => cuts,
    close() {
      for (const client of clients) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
