import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { CarefulResponse } from "./careful-response.ts";

type Answering = RequestListener<typeof import("node:http").IncomingMessage, typeof CarefulResponse>;

let close: (() => void) | undefined;
afterEach(() => close?.());

async function answered(answer: Answering): Promise<Headers> {
  const server = createServer({ ServerResponse: CarefulResponse }, answer).listen(0, "127.0.0.1");
  close = () => server.close();
  await once(server, "listening");
  const { headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return headers;
}

describe("a careful answer", () => {
  it("tells browsers what not to do, and the id of its request, however it is written", async () => {
    const ways: Answering[] = [
      (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("here"),
      (_, response) => response.writeHead(200, "Fine", ["content-type", "text/plain"]).end("here"),
      (_, response) => response.setHeader("content-type", "text/plain").end("here"),
    ];
    for (const way of ways) {
      const headers = await answered((request, response) => {
        response.requestId = "asked-1";
        way(request, response);
      });
      expect(headers.get("content-type")).toBe("text/plain");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-request-id")).toBe("asked-1");
    }
  });

  it("says what it says of its own once, in whatever case", async () => {
    const written = await answered((_, response) => response.writeHead(200, { "cache-control": "max-age=60" }).end());
    expect(written.get("cache-control")).toBe("max-age=60");
    const set = await answered((_, response) => {
      response.setHeader("CACHE-CONTROL", "max-age=60");
      response.end();
    });
    expect(set.get("cache-control")).toBe("max-age=60");
    expect(set.get("x-frame-options")).toBe("DENY");
  });
});
