// One request on stdin, one response on stdout: whatever goes wrong in between is an error response.
import { answer } from "./answer.ts";
import { failure, toErrorResponse } from "./failure.ts";
import { resolveName } from "./resolve-name.ts";

let hasResponded = false;

/** Prints the first response. The process ends with it, also while a name is still being resolved. */
function respond(response: object): void {
  if (hasResponded) return;
  hasResponded = true;
  process.stdout.write(`${JSON.stringify(response)}\n`, () => process.exit(0));
}

async function readRequest(): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw failure("The request on stdin is not JSON.");
  }
}

process.on("uncaughtException", (error) => respond(toErrorResponse(error)));

try {
  respond(await answer(await readRequest(), { resolve: resolveName }));
} catch (error) {
  respond(toErrorResponse(error));
}
