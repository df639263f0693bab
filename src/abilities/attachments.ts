// Files that come along with what is said: storing them takes what writing a file takes, whichever door they come through.
import { z } from "zod";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import { isMediaType } from "../contracts/standard/mime-type.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Workbench } from "./reach.ts";

/** How many one message brings at most. */
export const MOST_ATTACHMENTS = 20;

/** What is stored with a file is answered as a header later. */
export const mediaType = z.string().max(200).refine(isMediaType, "must be a media type");

/** Why the caller may not send files along; undefined where he may, or sends none. */
export async function attachmentRefusal(
  { runtime: { authority } }: Pick<Workbench, "runtime">,
  attachments: unknown,
  principal: Principal,
): Promise<OperationError | undefined> {
  if (!Array.isArray(attachments) || attachments.length === 0) return undefined;
  if (attachments.length > MOST_ATTACHMENTS) {
    return operationError("invalid_input", `A message brings ${MOST_ATTACHMENTS} files at most.`);
  }
  if (await authority.within(principal, "files.write")) return undefined;
  return operationError("ability_forbidden", "To send files along takes the capability files.write.");
}
