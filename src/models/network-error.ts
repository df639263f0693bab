// Whether something that was thrown is the network's word for a connection that did not come about or did not last.

const NETWORK_CODES =
  /^(ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EAI_AGAIN|UND_ERR_\w+)$/;

/** Clients wrap what the network said, often more than once. */
export function isNetworkError(thrown: unknown, depth = 5): boolean {
  if (!(thrown instanceof Error) || depth === 0) return false;
  if ("code" in thrown && typeof thrown.code === "string" && NETWORK_CODES.test(thrown.code)) return true;
  return isNetworkError(thrown.cause, depth - 1);
}
