// The agent as a program: one request on stdin, one response on stdout, exit 0 for every turn that it answers.
import { Console } from "node:console";
import { text } from "node:stream/consumers";
import { answerRequest } from "./answer-request.ts";

/** What packages print is no part of the response: stdout holds one JSON object. */
globalThis.console = new Console(process.stderr, process.stderr);

const response = await answerRequest(await text(process.stdin), { env: process.env });
// Connections to a model may still be open; nothing waits for them.
process.stdout.write(`${JSON.stringify(response)}\n`, () => process.exit(0));
