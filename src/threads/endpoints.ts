// Calls an endpoint that somebody has mounted below a thread. It runs outside of any run: what it writes is stored at once.
import type { Json } from "../contracts/json.ts";
import { matchEndpoint } from "../contracts/standard/endpoint-route.ts";
import type { EndpointAuth } from "./definitions/endpoint.ts";
import type { Host } from "./host.ts";
import { installationSecrets } from "./secrets/installation-secrets.ts";
import { createKnownSecrets, type KnownSecrets } from "./secrets/known-secrets.ts";
import { isSecretName } from "./secrets/secret-marks.ts";
import { shownError } from "./secrets/shown-error.ts";
import { directBuffer } from "./state/direct-buffer.ts";
import { stateAtRest } from "./state-at-rest.ts";

export type EndpointCall = {
  readonly threadId: string;
  readonly request: Request;
  /** What stands behind the thread's id in the address, as it was written there. */
  readonly path: string;
  /** Nobody known unless given. Whether the caller may see the thread was decided before. */
  readonly auth?: EndpointAuth;
  /** Told of what the handler emits, at once: before the response ends, also where that is a stream. */
  readonly onEvent?: (threadId: string, event: string, data: Json) => void;
};

/** Always answers: 404 for a thread or a path that is not there, 500 without details when the handler fails. */
export async function callEndpoint(host: Host, call: EndpointCall): Promise<Response> {
  const { threadId, request, path, auth = { caller: null, threadAccess: null }, onEvent } = call;
  const thread = await host.stores.threads.get(threadId);
  if (!thread) return refusal(404, `There is no thread "${threadId}".`);
  const match = matchEndpoint(host.endpoints, request.method, path);
  if (!match) return refusal(404, `There is no endpoint for ${request.method} here.`);
  const secrets = createKnownSecrets(installationSecrets(host));
  try {
    const buffer = directBuffer(host, threadId, onEvent && { onEvent });
    const state = await stateAtRest(host, thread, { buffer, secrets });
    const response: unknown = await match.endpoint.handler(request, state, match.params, auth);
    if (response instanceof Response) return response;
    throw new Error(`The endpoint ${match.endpoint.method} ${match.endpoint.path} must return a Response.`);
  } catch (thrown) {
    addRequest(secrets, request);
    host.report(shownError(thrown, secrets), threadId);
    return refusal(500, "The endpoint failed.");
  }
}

/** What the caller has sent under a name that gives it away. */
function addRequest(secrets: KnownSecrets, { headers, url }: Request): void {
  const { searchParams } = new URL(url);
  for (const [name, value] of [...headers, ...searchParams]) if (isSecretName(name)) secrets.addNamed(name, value);
}

function refusal(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
