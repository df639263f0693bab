// An empty route of Hono on Node with nothing of ours around it: the most that a server built on it can do.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { answerOrders } from "../subject.ts";
import { processorTime } from "./processor-time.ts";
import type { Order, Served } from "./server-subject.ts";

const app = new Hono();
app.get("/empty", (context) => context.json({}));
const server = createServer(getRequestListener(app.fetch));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

/** Nobody asks for it here, but it is as long to read as a real one. */
const token = `hf_${"0".repeat(43)}`;

answerOrders((order: Order): Served | number => {
  if (order.do === "serve") return { url: `http://127.0.0.1:${port}`, token, threads: [] };
  return processorTime();
});
