// Requests of whom nobody knows who sends them: no token, a wrong one, claims that cannot be believed, tickets.
import { head, type Refused, tokenWith } from "./refused-request.ts";
import type { Served } from "./served-runtime.ts";

const caller = {
  "X-Agents-Api-Caller-Agent": "planner",
  "X-Agents-Api-Caller-Host": "https://agents.example",
  "X-Agents-Api-Chain-Depth": "1",
  "X-Agents-Api-Chain-Root": "root",
};

export const whoCalls: readonly Refused[] = [
  {
    what: "No token",
    status: 401,
    code: "unauthenticated",
    send: (served) => served.ask(undefined, "/threads"),
  },
  {
    what: "A wrong token",
    status: 401,
    code: "unauthenticated",
    send: (served) => served.ask(`hf_${"x".repeat(43)}`, "/threads"),
  },
  {
    what: "A token under another scheme than Bearer",
    status: 401,
    code: "unauthenticated",
    send: (served) => served.ask(undefined, "/threads", { headers: { authorization: `Basic ${served.owner}` } }),
  },
  {
    what: "Two tokens at once",
    status: 401,
    code: "unauthenticated",
    send: (served) => served.send(head("GET /threads", served.owner, `Authorization: Bearer ${served.alice}\r\n\r\n`)),
  },
  {
    what: "A token in the URL",
    status: 401,
    code: "unauthenticated",
    send: (served) => served.ask(undefined, `/threads?token=${served.owner}&access_token=${served.owner}`),
  },
  {
    what: "An expired token",
    status: 401,
    code: "unauthenticated",
    send: async (served) => served.ask(await tokenWith(served, { expires_at: "2020-01-01T00:00:00Z" }), "/threads"),
  },
  {
    what: "A revoked token",
    status: 401,
    code: "unauthenticated",
    async send(served) {
      const { token, metadata } = await served.holdfast.tokens.create({ agent: "helper", owner_user_id: 1 });
      await served.holdfast.tokens.revoke(metadata.token_id, "helper");
      return served.ask(token, "/threads");
    },
  },
  {
    what: "Claims about the agents behind a request that cannot be read",
    status: 401,
    code: "unauthenticated",
    send: (served) =>
      served.ask(served.owner, "/threads", { headers: { ...caller, "X-Agents-Api-Chain-Depth": "-1" } }),
  },
  {
    what: "A chain of agents that is deeper than the server allows",
    status: 401,
    code: "unauthenticated",
    send: (served) => served.ask(served.owner, "/threads", { headers: { ...caller, "X-Agents-Api-Chain-Depth": "5" } }),
  },
  {
    what: "Claims of another host with a forged signature",
    status: 401,
    code: "unauthenticated",
    send: (served) =>
      served.ask(served.owner, "/threads", {
        headers: {
          ...caller,
          "X-Agents-Api-Caller-Signature": `t=${Math.floor(Date.now() / 1_000)},v1=${"0".repeat(64)}`,
        },
      }),
  },
];

export const tickets: readonly Refused[] = [
  {
    what: "A ticket that was used",
    status: 401,
    code: "unauthenticated",
    async send(served) {
      const path = `/threads/${await served.openThread(served.alice, "ticket")}/stream`;
      const ticket = await ticketFor(served, path);
      const first = await fetch(`${served.url}${path}?ticket=${ticket}`);
      await first.body?.cancel();
      if (first.status !== 200) throw new Error(`The ticket was not good at all: ${first.status}.`);
      return served.ask(undefined, `${path}?ticket=${ticket}`);
    },
  },
  {
    what: "A ticket for another stream",
    status: 401,
    code: "unauthenticated",
    send: async (served) =>
      served.ask(undefined, `/threads/other/stream?ticket=${await ticketFor(served, "/threads/one/stream")}`),
  },
  {
    what: "A ticket where there is no stream",
    status: 401,
    code: "unauthenticated",
    send: async (served) => served.ask(undefined, `/threads?ticket=${await ticketFor(served, "/threads/one/stream")}`),
  },
  {
    what: "A ticket for something that is no stream",
    status: 400,
    code: "invalid_input",
    send: (served) => served.ask(served.alice, "/auth/stream-ticket", { json: { pathname: "/threads" } }),
  },
];

async function ticketFor(served: Served, pathname: string): Promise<string> {
  return JSON.parse((await served.ask(served.alice, "/auth/stream-ticket", { json: { pathname } })).text).ticket;
}
