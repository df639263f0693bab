// What the routes of the gateway refuse: capabilities that are missing, events that only the gateway emits, and webhooks that
// prove nothing.
import { createHmac } from "node:crypto";
import type { GatewaySetup } from "../src/gateway/dispatch/set-up.ts";
import { gatewayPlugin } from "../src/gateway/plugins/in-process-plugin.ts";
import { type Refused, tokenWith } from "./refused-request.ts";
import type { Answer, Served } from "./served-runtime.ts";

const SECRET = "the-webhook-secret";

const books = gatewayPlugin({ name: "books", commands: { handle: { run: () => "Booked." } } });

/** What the server needs for these requests. */
export const refusingGateway: GatewaySetup = {
  config: {
    webhooks: [
      {
        ...{ path: "/hooks/shop", plugin: "books", secret: SECRET, max_body_size: "1KB" },
        ...{ signature_header: "x-signature", timestamp_header: "x-timestamp", signed_payload: "timestamp.body" },
      },
    ],
  },
  plugins: [books],
  onLog: () => undefined,
};

const order = JSON.stringify({ order: 10 });
const result = { type: "agentic.tool_result", payload: { run_id: "run", step: 1, tool: "books", status: "ok" } };

/** A webhook that was signed so long ago, with this secret; now, and with the right one, unless given. */
function webhook(served: Served, body: string, { secret = SECRET, secondsAgo = 0 } = {}): Promise<Answer> {
  const time = String(Math.floor(Date.now() / 1_000) - secondsAgo);
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return served.ask(undefined, "/hooks/shop", {
    ...{ method: "POST", body, headers: { "x-timestamp": time, "x-signature": signature } },
  });
}

const limited = async (served: Served, ...allowed_capabilities: string[]) =>
  await tokenWith(served, { allowed_capabilities });

export const refusedByGateway: readonly Refused[] = [
  {
    what: "Jobs, through a token that may only list plugins and pipelines",
    status: 403,
    code: "ability_forbidden",
    send: async (served) => served.ask(await limited(served, "gateway.read"), "/jobs"),
  },
  {
    what: "A command that writes, through a token that may only call those that read",
    status: 403,
    code: "ability_forbidden",
    send: async (served) => served.ask(await limited(served, "gateway.invoke"), "/plugin/books/handle", { json: {} }),
  },
  {
    what: "A reload, through a token that may only read the configuration",
    status: 403,
    code: "ability_forbidden",
    send: async (served) => served.ask(await limited(served, "gateway.config"), "/system/reload", { method: "POST" }),
  },
  {
    what: "The gateway, through a token whose user holds none of its capabilities",
    status: 403,
    code: "ability_forbidden",
    send: (served) => served.ask(served.alice, "/plugins"),
  },
  {
    what: "An event of a type that only the gateway and its agents emit",
    status: 403,
    code: "event_reserved",
    send: (served) => served.ask(served.owner, "/events", { json: result }),
  },
  {
    what: "The same through a webhook that is signed",
    status: 403,
    code: "event_reserved",
    send: (served) => webhook(served, JSON.stringify(result)),
  },
  {
    what: "A webhook of the gateway without a signature",
    status: 403,
    code: "webhook_refused",
    send: (served) => served.ask(undefined, "/hooks/shop", { method: "POST", body: order }),
  },
  {
    what: "A webhook of the gateway with a forged signature",
    status: 403,
    code: "webhook_refused",
    send: (served) => webhook(served, order, { secret: "guessed" }),
  },
  {
    what: "A webhook of the gateway that was signed too long ago",
    status: 403,
    code: "webhook_refused",
    send: (served) => webhook(served, order, { secondsAgo: 3_600 }),
  },
  {
    what: "A webhook of the gateway that was delivered before",
    status: 403,
    code: "webhook_refused",
    async send(served) {
      const body = JSON.stringify({ order: 11 });
      const time = String(Math.floor(Date.now() / 1_000));
      const signature = createHmac("sha256", SECRET).update(`${time}.${body}`).digest("hex");
      const headers = { "x-timestamp": time, "x-signature": signature };
      const first = await served.ask(undefined, "/hooks/shop", { method: "POST", body, headers });
      if (first.status !== 202) throw new Error(`The webhook was not good at all: ${first.status}.`);
      return served.ask(undefined, "/hooks/shop", { method: "POST", body, headers });
    },
  },
  {
    what: "A webhook of the gateway that is longer than its endpoint takes",
    status: 413,
    code: "body_too_large",
    send: (served) => webhook(served, JSON.stringify({ order: "x".repeat(2_000) })),
  },
  {
    what: "A webhook of the gateway that is no JSON object",
    status: 400,
    code: "invalid_body",
    send: (served) => webhook(served, "[1]"),
  },
];
