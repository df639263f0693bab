// HTTP servers on this machine for the tests of `fetch`.
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { certificate, privateKey } from "./self-signed.ts";

export type LocalServer = {
  readonly port: number;
  /** `127.0.0.1:port`, as `allow_hosts` takes it. */
  readonly host: string;
  /** The paths that were asked for, in their order. */
  readonly hits: readonly string[];
};

export async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<LocalServer> {
  return await listening((counted) => createServer(counted), listener, host);
}

export async function serveSecurely(listener: RequestListener): Promise<LocalServer> {
  const open = (counted: RequestListener) => createSecureServer({ cert: certificate, key: privateKey }, counted);
  return await listening(open, listener, "127.0.0.1");
}

async function listening(
  open: (listener: RequestListener) => Server | ReturnType<typeof createSecureServer>,
  listener: RequestListener,
  host: string,
): Promise<LocalServer> {
  const hits: string[] = [];
  const server = open((request, response) => {
    hits.push(request.url ?? "");
    response.on("error", () => {});
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { port, host: `127.0.0.1:${port}`, hits };
}
