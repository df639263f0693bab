// Requests that bring what the server does not take: too much, no JSON, or to where there is nothing.
import { head, json, type Refused } from "./refused-request.ts";
import type { Answer, Served } from "./served-runtime.ts";

/** Nested so many lists deep, without a stack as deep. */
function deep(levels: number): string {
  return `{"content":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

/** A body as it is, of whatever type. */
function post(served: Served, path: string, body: string, type = "application/json"): Promise<Answer> {
  return served.ask(served.alice, path, { method: "POST", body, headers: { "content-type": type } });
}

export const whatTheyBring: readonly Refused[] = [
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
    send: (served) => post(served, "/threads", '{"agent": "helper"'),
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
    send: (served) => post(served, "/threads/own/messages", deep(100_000)),
  },
  {
    what: "A field `__proto__`",
    status: 400,
    code: "invalid_body",
    send: (served) =>
      post(served, "/threads", '{"agent": "helper", "tags": [{"\\u005f_proto__": {"isAdministrator": true}}]}'),
  },
  {
    what: "A body of another type than JSON",
    status: 415,
    code: "unsupported_media_type",
    send: (served) => post(served, "/threads", '{"agent": "helper"}', "text/plain"),
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
