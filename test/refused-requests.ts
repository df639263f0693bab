// What the HTTP server refuses, each with the status and the code that docs/security.md promises. Every row sends a real
// request to a real server.
import { setTimeout as after } from "node:timers/promises";
import { whatTheyBring } from "./refused-bodies.ts";
import { tickets, whoCalls } from "./refused-callers.ts";
import { refusedByGateway } from "./refused-gateway.ts";
import { head, type Refused, tokenWith } from "./refused-request.ts";
import { smuggledRequests } from "./refused-smuggling.ts";
import { refusedWebhooks } from "./refused-webhooks.ts";

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
  "The gateway": refusedByGateway,
};
