// Somebody who receives webhooks over real HTTP, keeps what he got and answers as he is told.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type Delivered = {
  readonly body: { readonly type: string; readonly text: string; readonly [field: string]: unknown };
  readonly raw: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

export async function webhookReceiver({ port = 0 }: { readonly port?: number } = {}) {
  const delivered: Delivered[] = [];
  const waiting: (() => void)[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    let raw = "";
    for await (const piece of request) raw += piece;
    delivered.push({ body: JSON.parse(raw), raw, headers: request.headers });
    response.writeHead(answers.shift() ?? 200).end();
    for (const resolve of waiting.splice(0)) resolve();
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/replies`,
    delivered,
    /** The next requests are answered with these, those after them with 200. */
    answersWith: (...statuses: number[]) => void answers.push(...statuses),
    /** Once so many have come. */
    async until(count: number): Promise<readonly Delivered[]> {
      while (delivered.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return delivered;
    },
  };
}

/** A webhook as a sender signs it. */
export function signedWebhook(
  body: object | string,
  secret: string,
  { time = Math.floor(Date.now() / 1_000) }: { readonly time?: number | string } = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const signature = createHmac("sha256", secret).update(`${time}.${text}`).digest("hex");
  const headers = { "X-Signature-256": `sha256=${signature}`, "X-Signature-Timestamp": String(time) };
  return { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: text };
}
