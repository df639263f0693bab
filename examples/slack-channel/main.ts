// Slack talks with an agent. Slack's side is played here: what it sends has the shape of real payloads, with real
// signatures, and a server of our own stands where chat.postMessage is.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { agent, createHoldfast } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { directMessage, mention, ownMessage, verification } from "./payloads.ts";
import { slackChannel } from "./slack.ts";

const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const posted: { channel: string; thread_ts?: string; text: string }[] = [];
const slackApi = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  posted.push(JSON.parse(body));
  response.setHeader("Content-Type", "application/json").end('{"ok":true}');
  slackApi.emit("posted");
});
await once(slackApi.listen(0, "127.0.0.1"), "listening");
const apiUrl = `http://127.0.0.1:${(slackApi.address() as AddressInfo).port}`;

const clerk = agent({
  slug: "clerk",
  model: (messages) => ({ content: `I hear you: ${String(messages.at(-1)?.content)}`, tool_calls: [] }),
});
const holdfast = await createHoldfast({
  backend: sqlite(":memory:"),
  agents: [clerk],
  channels: [slackChannel({ agent: "clerk", signingSecret, botToken: "xoxb-not-a-real-token", apiUrl })],
});

/** Hands a request over, as the server does with POST /channels/slack; any other server can do the same. */
async function slackSends(what: string, payload: object, { secret = signingSecret, headers = {} } = {}) {
  const body = JSON.stringify(payload);
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`;
  const signed = { "X-Slack-Request-Timestamp": time, "X-Slack-Signature": signature, ...headers };
  const answer = await holdfast.channels.receive("slack", { headers: signed, body });
  console.log(`${what}: ${"code" in answer ? answer.code : `${answer.status} ${JSON.stringify(answer.body)}`}`);
}

await slackSends("the address is verified", verification);
const first = once(slackApi, "posted");
await slackSends("a direct message", directMessage);
await first;
await slackSends("the same, because Slack was not sure", directMessage, {
  headers: { "X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout" },
});
await slackSends("what the app itself said", ownMessage);
await slackSends("a forgery", mention, { secret: "a guess" });
const second = once(slackApi, "posted");
await slackSends("a mention in a thread", mention);
await second;
for (const { channel, thread_ts, text } of posted) console.log(`posted to ${channel} ${thread_ts ?? "-"}: ${text}`);
await holdfast.close();
slackApi.close();
