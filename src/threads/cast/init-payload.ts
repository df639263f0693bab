// What the arguments of a call become where it starts something: a first message, and its files.
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import type { Init } from "../definitions/prompt.ts";
import type { ThreadState } from "../state/thread-state.ts";

/** No message where no argument is named for it, or the call does not give it. */
export type Start = { readonly message?: string; readonly attachments: readonly string[] };

/** Throws `file_not_found`, naming the path, for a file that is not there: nothing is started then. */
export async function startOf(state: ThreadState, init: Init, input: UnknownMap): Promise<Start> {
  const { initUserMessageProperty: text, initAttachmentsProperty: files } = init;
  const given = text === undefined ? undefined : (input[text] ?? undefined);
  const attachments = files === undefined ? [] : pathsIn(input[files]);
  for (const path of attachments) {
    if (path.startsWith("/attachments/") && (await state.statFile(path))) continue;
    throw holdfastError("file_not_found", `There is no attachment "${path}".`);
  }
  const message = given === undefined ? undefined : typeof given === "string" ? given : JSON.stringify(given);
  return { ...(message !== undefined && { message }), attachments };
}

/** What is no path stays as text: no file has it for a path, and so it is complained of by its words. */
function pathsIn(given: unknown): readonly string[] {
  if (given === undefined || given === null) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((each) => {
    if (typeof each === "string") return each;
    return isMap(each) && typeof each.path === "string" ? each.path : JSON.stringify(each);
  });
}
