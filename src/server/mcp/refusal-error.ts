// A refusal where MCP has no place for one but an error of the protocol.
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { hintOf } from "../../contracts/error.ts";
import type { OperationError } from "../../contracts/operation-error.ts";
import { toldRefusal } from "../problem.ts";

export function refusalError(refusal: OperationError): ProtocolError {
  const { code, message } = toldRefusal(refusal);
  const hint = hintOf(code);
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, `${code}: ${message}`, {
    code,
    ...(hint !== undefined && { hint }),
  });
}
