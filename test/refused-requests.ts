// What the HTTP server refuses, each with the status and the code that docs/security.md promises. Every row sends a real
// request to a real server.
import { setTimeout as after } from "node:timers/promises";
import { head, smuggledRequests } from "./refused-smuggling.ts";
import { refusedWebhooks } from "./refused-webhooks.ts";
import type { Answer, Served } from "./served-runtime.ts";

export type Refused = {
  readonly what: string;
  readonly status: number;
  readonly code: string;
  /** `strict`: a server that lets everybody do everything only once. */
  readonly send: (served: Served, strict: Served) => Promise<Answer>;
};

const json = "Content-Type: application/json\r\n";

async function tokenWith(served: Served, options: object): Promise<string> {
  return (await served.holdfast.tokens.create({ agent: "helper", owner_user_id: 1, ...options })).token;
}

/** Nested so many lists deep, without a stack as deep. */
function deep(levels: number): string {
  return `{"content":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

const caller = {
  "X-Agents-Api-Caller-Agent": "planner",
  "X-Agents-Api-Caller-Host": "https://agents.example",
  "X-Agents-Api-Chain-Depth": "1",
  "X-Agents-Api-Chain-Root": "root",
};

const whoCalls: readonly Refused[] = [
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

const tickets: readonly Refused[] = [
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

const whatTheyMay: readonly Refused[] = [
  {
    what: "A capability that the token's ceiling leaves out",
    status: 403,
    code: "ability_forbidden",
    async send(served) {
      const token = await tokenWith(served, { allowed_capabilities: ["threads.read"] });
      return served.ask(token, "/threads", { json: { agent: "helper" } });
    },
  },
  {
    what: "A capability that the token's user does not hold",
    status: 403,
    code: "ability_forbidden",
    send: (served) => served.ask(served.alice, "/tokens", { json: { agent: "helper", owner_user_id: 1 } }),
  },
  {
    what: "The thread of another user",
    status: 404,
    code: "thread_not_found",
    send: async (served) => served.ask(served.bob, `/threads/${await served.openThread(served.alice, "own")}`),
  },
  {
    what: "The stream of another user's thread",
    status: 404,
    code: "thread_not_found",
    send: async (served) => served.ask(served.bob, `/threads/${await served.openThread(served.alice, "own")}/stream`),
  },
  {
    what: "The files of another user's thread",
    status: 404,
    code: "thread_not_found",
    send: async (served) =>
      served.ask(served.bob, `/threads/${await served.openThread(served.alice, "own")}/content/a`),
  },
  {
    what: "Another user's thread through a token of the owner's that may not manage threads",
    status: 404,
    code: "thread_not_found",
    async send(served) {
      const token = await tokenWith(served, { allowed_capabilities: ["threads.read"] });
      return served.ask(token, `/threads/${await served.openThread(served.alice, "own")}`);
    },
  },
  {
    what: "A path that leads out of a thread's files",
    status: 400,
    code: "invalid_file_path",
    async send(served) {
      const id = await served.openThread(served.alice, "own");
      return served.ask(served.alice, `/threads/${id}/content/..%2F..%2F..%2Fetc%2Fpasswd`);
    },
  },
  {
    what: "A path that leads out of the server's own",
    status: 404,
    code: "route_not_found",
    send: (served) => served.send(head("GET /threads/../../etc/passwd", served.alice, "\r\n")),
  },
];

const whatTheyBring: readonly Refused[] = [
  {
    what: "A body longer than it may be",
    status: 413,
    code: "body_too_large",
    send: (served) => served.send(head("POST /threads", served.alice, `${json}Content-Length: 1048577\r\n\r\n`)),
  },
  {
    what: "A body longer than it may be, without having said so",
    status: 413,
    code: "body_too_large",
    send: (served) =>
      served.send(
        head("POST /threads", served.alice, `${json}Transfer-Encoding: chunked\r\n\r\n`),
        `100001\r\n${"x".repeat(0x100001)}\r\n0\r\n\r\n`,
      ),
  },
  {
    what: "A file larger than it may be",
    status: 413,
    code: "body_too_large",
    send: (served) =>
      served.send(head("PUT /threads/own/content/a.bin", served.alice, "Content-Length: 104857600\r\n\r\n")),
  },
  {
    what: "A body that is no JSON",
    status: 400,
    code: "invalid_body",
    send: (served) =>
      served.ask(served.alice, "/threads", {
        method: "POST",
        body: '{"agent": "helper"',
        headers: { "content-type": "application/json" },
      }),
  },
  {
    what: "A body that is no UTF-8",
    status: 400,
    code: "invalid_body",
    send: (served) =>
      served.send(head("POST /threads", served.alice, `${json}Content-Length: 13\r\n\r\n{"agent":"\xff"}`)),
  },
  {
    what: "A body that is no object",
    status: 400,
    code: "invalid_body",
    send: (served) => served.ask(served.alice, "/threads", { json: ["helper"] }),
  },
  {
    what: "A body nested too deeply",
    status: 400,
    code: "invalid_body",
    send: (served) =>
      served.ask(served.alice, "/threads/own/messages", {
        method: "POST",
        body: deep(100_000),
        headers: { "content-type": "application/json" },
      }),
  },
  {
    what: "A field `__proto__`",
    status: 400,
    code: "invalid_body",
    send: (served) =>
      served.ask(served.alice, "/threads", {
        method: "POST",
        body: '{"agent": "helper", "tags": [{"\\u005f_proto__": {"isAdministrator": true}}]}',
        headers: { "content-type": "application/json" },
      }),
  },
  {
    what: "A body of another type than JSON",
    status: 415,
    code: "unsupported_media_type",
    send: (served) =>
      served.ask(served.alice, "/threads", {
        method: "POST",
        body: '{"agent": "helper"}',
        headers: { "content-type": "text/plain" },
      }),
  },
  {
    what: "A path that there is not",
    status: 404,
    code: "route_not_found",
    send: (served) => served.ask(served.alice, "/admin"),
  },
  {
    what: "A method that a path does not take",
    status: 405,
    code: "method_not_allowed",
    send: (served) => served.ask(served.alice, "/threads", { method: "PATCH" }),
  },
  {
    what: "An operation that is offered through other doors only, or not at all",
    status: 404,
    code: "ability_not_found",
    send: (served) => served.ask(served.owner, "/abilities/holdfast/no-such-thing", { json: {} }),
  },
  {
    what: "A place in a stream that there is not",
    status: 400,
    code: "invalid_stream_position",
    async send(served) {
      return served.ask(served.alice, `/threads/${await served.openThread(served.alice, "own")}/stream?after=-1`);
    },
  },
];

const browsers: readonly Refused[] = [
  {
    what: "A host that is not ours, as after DNS rebinding",
    status: 421,
    code: "host_not_allowed",
    send: (served) =>
      served.send(`GET /threads HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${served.alice}\r\n\r\n`),
  },
  {
    what: "Two hosts",
    status: 421,
    code: "host_not_allowed",
    send: (served) => served.send(head("GET /threads", served.alice, "Host: evil.example\r\n\r\n")),
  },
  {
    what: "A page of another origin",
    status: 403,
    code: "origin_not_allowed",
    send: (served) => served.send(head("GET /threads", served.alice, "Origin: https://evil.example\r\n\r\n")),
  },
  {
    what: "A page without an origin of its own",
    status: 403,
    code: "origin_not_allowed",
    send: (served) => served.send(head("GET /threads", served.alice, "Origin: null\r\n\r\n")),
  },
  {
    what: "A page of another origin that asks whether it may",
    status: 403,
    code: "origin_not_allowed",
    send: (served) =>
      served.send(
        "OPTIONS /threads HTTP/1.1\r\nHost: HOST\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
      ),
  },
];

const tooOften: readonly Refused[] = [
  {
    what: "More requests of a token than it may make",
    status: 429,
    code: "too_many_requests",
    async send(_, strict) {
      const token = await tokenWith(strict, { owner_user_id: 4 });
      await strict.ask(token, "/threads");
      return strict.ask(token, "/threads");
    },
  },
  {
    what: "An address that fails to say who calls again and again",
    status: 429,
    code: "too_many_requests",
    async send(_, strict) {
      await strict.ask(undefined, "/threads");
      return strict.ask(undefined, "/threads");
    },
  },
  {
    what: "More streams of a token than it may hold",
    status: 429,
    code: "too_many_streams",
    async send(served) {
      const path = `/threads/${await served.openThread(served.bob, "flood")}/stream`;
      const authorization = `Bearer ${served.bob}`;
      const open = await Promise.all(
        [1, 2, 3].map(() => fetch(`${served.url}${path}`, { headers: { authorization } })),
      );
      const answer = await served.ask(served.bob, path);
      for (const { body } of open) await body?.cancel();
      // A stream that was closed makes room for another.
      for (let status = 429; status === 429; await after(5)) {
        const again = await fetch(`${served.url}${path}`, { headers: { authorization } });
        await again.body?.cancel();
        status = again.status;
      }
      return answer;
    },
  },
];

/** By the heading that they stand under. */
export const refusedRequests: Readonly<Record<string, readonly Refused[]>> = {
  "Who calls": whoCalls,
  Tickets: tickets,
  "What they may": whatTheyMay,
  "What they bring": whatTheyBring,
  "Requests that are not what they seem": smuggledRequests,
  "Web pages": browsers,
  "Too often": tooOften,
  Webhooks: refusedWebhooks,
};
