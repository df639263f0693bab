// What a tool returned, in whichever of the accepted forms, as a result: `{ status, result, error, attachments }`, or
// simply what came of it.
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type Json, type UnknownMap } from "../../contracts/json.ts";
import type { AttachmentInput } from "../state/thread-state.ts";

export type StandardResult = {
  readonly attachments?: readonly AttachmentInput[];
} & (
  | { readonly success: true; readonly result: Json | undefined }
  | { readonly success: false; readonly error: string }
);

const FIELDS: ReadonlySet<string> = new Set(["status", "result", "error", "attachments", "content"]);

/** What says nothing of its success has succeeded; what was thrown has not. */
export function standardResult(returned: unknown): StandardResult {
  if (!isMap(returned)) return { success: true, result: returned as Json | undefined };
  if (typeof returned.success === "boolean") return ofHost(returned);
  const isStandard = Object.keys(returned).every((field) => FIELDS.has(field));
  if (!isStandard || (returned.status !== "success" && returned.status !== "error")) {
    return { success: true, result: returned as Json };
  }
  const { status, attachments } = returned;
  const files = Array.isArray(attachments) ? { attachments: attachments as readonly AttachmentInput[] } : {};
  const result = joined(returned.content) ?? (returned.result as Json | undefined);
  if (status === "success") return { success: true, result, ...files };
  return { success: false, error: wordsOf(returned.error ?? result), ...files };
}

function ofHost({ success, result, error }: UnknownMap): StandardResult {
  return success === true
    ? { success, result: result as Json | undefined }
    : { success: false, error: wordsOf(error ?? result) };
}

/** The text parts of a list, one below the other. */
function joined(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part) => (isMap(part) && typeof part.text === "string" ? [part.text] : []));
  return texts.join("\n");
}

function wordsOf(error: unknown): string {
  if (error === undefined || error === null || error === "") return "The tool failed without saying why.";
  if (typeof error === "string") return error;
  return isMap(error) && !("message" in error) ? JSON.stringify(error) : errorMessage(error);
}
