// Whom a run of a workflow acts for. A run is no thread, and has no agent that would say something else.
import { isName } from "../contracts/storable-name.ts";
import * as principals from "../contracts/trust/principal.ts";
import type { Host } from "./host.ts";
import { readSubject, type Subject } from "./subject.ts";

/** Undefined for what is no run. */
export async function subjectOfRun({ stores }: Pick<Host, "stores">, id: string): Promise<Subject | undefined> {
  if (!isName(id) || !(await stores.workflows.get(id))) return undefined;
  const row = await stores.subjects.get(id);
  if (row) return readSubject(row);
  return { principal: principals.system("workflow"), workspace: null, owner: null, context: "workflow", consent: {} };
}
