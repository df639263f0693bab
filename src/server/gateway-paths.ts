// The paths of the gateway's routes, as far as requests to them are treated differently.

/** Routes that take payloads of plugins. */
const PAYLOADS =
  /^\/(plugin\/[^/]+\/[^/]+|pipeline\/[^/]+|events|runs|abilities\/holdfast\/(call-plugin|run-pipeline|emit-event|start-agent-run))$/;

/** A payload may be as large as what a plugin may print. */
export const PAYLOAD_BYTES = 10 * 1024 * 1024;

export function takesPayload(path: string): boolean {
  return PAYLOADS.test(path);
}

const GATEWAY =
  /^\/(plugins?|pipelines?|jobs?|job-logs|scheduler|events|runs|system|config|healthz|skills|analytics|\.well-known)(\/|$)/;

/** Clients of other gateways read what went wrong in the field `error` of a refusal, also at routes that are only there. */
export function namesError(path: string): boolean {
  return GATEWAY.test(path);
}
