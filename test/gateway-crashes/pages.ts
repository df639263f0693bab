// The server whose page tools fetch. It lives in the process that is never killed, and counts who asked.
import { once } from "node:events";
import { createServer } from "node:http";

export type Pages = {
  /** The address of a page that is there for one case. */
  pageOf(name: string): string;
  requests(name: string): number;
  close(): Promise<void>;
};

const html = "<!doctype html><title>Tea</title><p>We pour tea in a room above the boat sheds.</p>";

export async function startPages(): Promise<Pages> {
  const requests = new Map<string, number>();
  const server = createServer(({ url = "" }, response) => {
    const name = url.slice(1);
    requests.set(name, (requests.get(name) ?? 0) + 1);
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    pageOf: (name) => `http://127.0.0.1:${port}/${name}`,
    requests: (name) => requests.get(name) ?? 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
