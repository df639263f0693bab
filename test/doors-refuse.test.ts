// Promise: what should not come in is refused, each with the status and the code that docs/security.md promises, and the
// server goes on as if nothing had happened.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhookChannel } from "../src/channels/webhook-channel.ts";
import { refusingGateway } from "./refused-gateway.ts";
import type { Refused } from "./refused-request.ts";
import { refusedRequests } from "./refused-requests.ts";
import { type Served, serveRuntime } from "./served-runtime.ts";

const once = { perSecond: 0.001, burst: 1 };
const keys = { "https://agents.example": "shared" };

let served: Served;
let strict: Served;
let impatient: Served;
beforeAll(async () => {
  const desk = webhookChannel({ name: "desk", agent: "helper", secret: "shared", replyUrl: "http://127.0.0.1:9/" });
  const parts = { channels: [desk], gateway: refusingGateway };
  served = await serveRuntime({ maxStreams: 3, maxChainDepth: 4, callers: { keys } }, parts);
  strict = await serveRuntime({ rate: once, failureRate: once });
  impatient = await serveRuntime({ timeouts: { headersMs: 100, requestMs: 100 } });
});
afterAll(async () => {
  await served.close();
  await strict.close();
  await impatient.close();
});

describe.each(Object.entries(refusedRequests))("%s", (_heading, rows) => {
  it.each(rows)("$what is refused with $status $code", async ({ send, status, code }) => {
    const answer = await send(served, strict, impatient);
    expect(answer).toMatchObject({ status, code });
    // What went wrong is told in words that were meant to be read, without where in the code.
    expect(JSON.parse(answer.text)).toMatchObject({ detail: expect.any(String), hint: expect.any(String) });
    expect(answer.text).not.toMatch(/\bat .*\.(ts|js|mjs):\d+/);
    expect(await served.ask(undefined, "/health")).toMatchObject({ status: 200 });
    expect(({} as { isAdministrator?: boolean }).isAdministrator).toBeUndefined();
  });
});

it("a pattern that would take for ever is taken for words", async () => {
  const words = encodeURIComponent(`(a+)+$ ${"a".repeat(900)}! (x+x+)+y`);
  expect(await served.ask(served.alice, `/memories?words=${words}`)).toMatchObject({ status: 200 });
});

it("docs/security.md lists exactly these", () => {
  const page = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("\n## What the HTTP server refuses\n");
  const listed = section
    .split("\n## ", 1)[0]
    ?.split("\n### ")
    .slice(1)
    .map((part) => {
      const [heading = "", ...lines] = part.split("\n");
      return [
        heading,
        lines
          .filter((line) => line.startsWith("| "))
          .slice(2)
          .map((line) => line.trim()),
      ] as const;
    });
  const expected = Object.entries(refusedRequests).map(([heading, rows]) => [heading, rows.map(tableRow)] as const);
  expect(listed).toEqual(expected);
});

function tableRow({ what, status, code }: Refused): string {
  return `| ${what} | ${status} | \`${code}\` |`;
}
