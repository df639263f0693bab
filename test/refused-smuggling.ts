// Requests that are not what they seem: what one server reads as one request, another behind it might read as two.
import { head, json, type Refused } from "./refused-request.ts";

export const smuggledRequests: readonly Refused[] = [
  {
    what: "A length and chunks at once",
    status: 400,
    code: "invalid_request",
    send: (served) =>
      served.send(
        head("POST /threads", served.alice, `${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`),
        "0\r\n\r\nGET /tokens HTTP/1.1\r\nHost: HOST\r\n\r\n",
      ),
  },
  {
    what: "Two lengths",
    status: 400,
    code: "invalid_request",
    send: (served) =>
      served.send(head("POST /threads", served.alice, `${json}Content-Length: 2\r\nContent-Length: 30\r\n\r\n{}`)),
  },
  {
    what: "A length that is no number",
    status: 400,
    code: "invalid_request",
    send: (served) => served.send(head("POST /threads", served.alice, `${json}Content-Length: +2\r\n\r\n{}`)),
  },
  {
    what: "An encoding that hides chunks",
    status: 400,
    code: "invalid_request",
    send: (served) =>
      served.send(
        head("POST /threads", served.alice, `${json}Transfer-Encoding: chunked, identity\r\n\r\n`),
        "0\r\n\r\n",
      ),
  },
  {
    what: "A chunk whose size is no number",
    status: 400,
    code: "invalid_request",
    send: (served) =>
      served.send(
        head("POST /threads", served.alice, `${json}Transfer-Encoding: chunked\r\n\r\n`),
        "zz\r\n{}\r\n0\r\n\r\n",
      ),
  },
  {
    what: "A line end within a header",
    status: 400,
    code: "invalid_request",
    send: (served) => served.send(head("GET /threads", served.alice, "X-Request-Id: a\rX-Forged: b\r\n\r\n")),
  },
  {
    what: "A zero byte within a header",
    status: 400,
    code: "invalid_request",
    send: (served) => served.send(head("GET /threads", served.alice, "X-Request-Id: a\0b\r\n\r\n")),
  },
  {
    what: "A space before the colon of a header",
    status: 400,
    code: "invalid_request",
    send: (served) => served.send(head("GET /threads", served.alice, "Content-Length : 5\r\n\r\n")),
  },
  {
    what: "Headers without end",
    status: 431,
    code: "headers_too_large",
    send: (served) => served.send(head("GET /threads", served.alice, `X-Long: ${"x".repeat(20_000)}\r\n\r\n`)),
  },
  {
    what: "A request that does not come to its end",
    status: 408,
    code: "request_timeout",
    send: (_served, _strict, impatient) => impatient.send(head("GET /threads", impatient.alice)),
  },
  {
    what: "No host",
    status: 400,
    code: "invalid_request",
    send: (served) => served.send("GET /threads HTTP/1.1\r\n\r\n"),
  },
];
