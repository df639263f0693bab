import { once } from "node:events";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { sqliteWorld } from "../../test/databases.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { serve } from "./serve.ts";

const PIECE = Buffer.alloc(1024 * 1024, "x");
/** More than the buffers of a connection hold, so that it can be sent to its end only if the server reads it. */
const PIECES = 40;
const LENGTH = `content-length: ${PIECES * PIECE.length}`;

it.each([
  ["of a length that it announces", LENGTH, true],
  ["of no length", "transfer-encoding: chunked", true],
  ["without a token", LENGTH, false],
])(
  "the sender of a body that is too large, %s, can send it and then read why it is refused",
  async (_, header, knows) => {
    const holdfast = await (await sqliteWorld()).open(
      agent({ slug: "talker", model: scriptedModel([says("Hello.")]) }),
    );
    const { token } = await holdfast.tokens.create({ agent: "talker", owner_user_id: 1 });
    const server = await serve(holdfast, { port: 0 });
    onTestFinished(() => server.close());
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const isChunked = header !== LENGTH;
    const headers = [`host: ${hostname}:${port}`, "content-type: application/json", header];
    if (knows) headers.push(`authorization: Bearer ${token}`);
    socket.write(`POST /threads HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    for (let sent = 0; sent < PIECES; sent++) {
      if (isChunked) socket.write(`${PIECE.length.toString(16)}\r\n`);
      if (!socket.write(PIECE)) await once(socket, "drain");
      if (isChunked) socket.write("\r\n");
    }
    if (isChunked) socket.write("0\r\n\r\n");
    let answer = "";
    for await (const piece of socket) {
      answer += piece;
      if (answer.includes("body_too_large")) break;
    }
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  },
);
