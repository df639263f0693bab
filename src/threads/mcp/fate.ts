// What became of a call that came to no answer. Only what certainly never reached the server may be sent again.
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import { isMap } from "../../contracts/json.ts";

/**
 * `answered`: the server said no. `not_sent`: it never came to know. `refused`: it did not let us in. `unreadable`: it has
 * answered something that is no answer. `unknown`: nobody can tell.
 */
export type Fate = "answered" | "not_sent" | "refused" | "unreadable" | "unknown";

const NEVER_ARRIVED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

const REFUSALS = new Set([400, 401, 403, 405, 406, 413, 415, 429]);

export function fateOf(thrown: unknown): Fate {
  if (thrown instanceof ProtocolError) return "answered";
  if (thrown instanceof UnauthorizedError) return "refused";
  if (thrown instanceof SdkHttpError) return fateOfStatus(thrown.status);
  if (thrown instanceof SdkError) return fateOfCode(thrown.code);
  // Neither JSON nor a message of the protocol.
  if (thrown instanceof SyntaxError || (thrown instanceof Error && thrown.name === "ZodError")) return "unreadable";
  const cause = isMap(thrown) || thrown instanceof Error ? (thrown as { cause?: unknown }).cause : undefined;
  const code = typeof cause === "object" && cause !== null ? (cause as { code?: unknown }).code : undefined;
  return typeof code === "string" && NEVER_ARRIVED.has(code) ? "not_sent" : "unknown";
}

function fateOfStatus(status: number | undefined): Fate {
  // A session that the server has forgotten: the call was not looked at.
  if (status === 404) return "not_sent";
  return status !== undefined && REFUSALS.has(status) ? "refused" : "unknown";
}

function fateOfCode(code: SdkErrorCode): Fate {
  switch (code) {
    case SdkErrorCode.NotConnected:
      return "not_sent";
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return "unreadable";
    // It wants something of a person before it goes on.
    case SdkErrorCode.UnsupportedResultType:
    case SdkErrorCode.CapabilityNotSupported:
      return "answered";
    case SdkErrorCode.ClientHttpAuthentication:
    case SdkErrorCode.ClientHttpForbidden:
      return "refused";
    default:
      return "unknown";
  }
}
