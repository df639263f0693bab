// Counts the round trips between Holdfast and its PostgreSQL from outside: a proxy between the two listens who speaks.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { postgres } from "../../src/backend/postgres/postgres.ts";
import { inFreshSchema } from "../postgres-server.ts";
import { Recording } from "./recording.ts";
import { runThread } from "./run-thread.ts";

export type RoundTrips = { readonly aCommit: number; readonly aTurn: number; readonly commitsATurn: number };

/** Over a thread of so many turns, from the message to its outcome; whatever the process asked meanwhile is in it. */
export async function countRoundTrips(url: string, turns: number): Promise<RoundTrips> {
  const proxy = await startProxy(url);
  const recording = new Recording();
  let counted = 0;
  try {
    await inFreshSchema(url, (schema) =>
      runThread(recording.of(postgres(proxy.url, { schema })), turns, {
        onSend: () => {
          recording.start();
          counted = proxy.roundTrips();
        },
        onDone: () => {
          recording.stop();
          counted = proxy.roundTrips() - counted;
        },
      }),
    );
  } finally {
    await proxy.close();
  }
  const commits = recording.recorded.batches.length;
  return { aCommit: counted / commits, aTurn: counted / turns, commitsATurn: commits / turns };
}

async function startProxy(address: string) {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let roundTrips = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    // One begins when the client speaks after the server has spoken, however many statements it has to say.
    let hasServerSpoken = true;
    client.on("data", (chunk) => {
      if (hasServerSpoken) roundTrips++;
      hasServerSpoken = false;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      hasServerSpoken = true;
      client.write(chunk);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one.setNoDelay());
      one.on("close", () => other.destroy());
      one.on("error", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const listening = server.address();
  const own = new URL(address);
  own.hostname = "127.0.0.1";
  own.port = String(listening !== null && typeof listening === "object" ? listening.port : "");

  return {
    url: own.href,
    roundTrips: () => roundTrips,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
