// Everything that can be read over HTTP, asked for by several callers, about all that somebody has.
import { projectedOperations } from "../../src/server/routes.ts";
import { askOperation, fieldsOf, waysTo } from "./ask-operation.ts";
import { inputFor, namingFields } from "./fields.ts";
import type { PlantedHouse } from "./planted-house.ts";
import type { Belongings } from "./two-tenants.ts";

type Read = { readonly theirs: Belongings; readonly threads: readonly string[]; readonly tokens: readonly string[] };

/** What is answered is heard under the name of the operation. Returns how many answers were no refusals. */
export async function readEverything(
  { served, hear }: PlantedHouse,
  { theirs, threads, tokens }: Read,
): Promise<number> {
  let answered = 0;
  for (const operation of projectedOperations(served.holdfast).filter(({ effect }) => effect === "read")) {
    const { required } = fieldsOf(operation);
    const takesThread = namingFields(operation).includes("thread_id") && required.includes("thread_id");
    const requests = [theirs.client, theirs.approval, theirs.decided];
    const places = takesThread
      ? threads.map((thread_id) => ({ ...theirs, thread_id, effect: { ...theirs.effect, thread_id } }))
      : requests.map((client) => ({ ...theirs, client, approval: client }));
    for (const place of places) {
      const input = inputFor(operation, (field) => (required.includes(field) ? place : undefined));
      for (const token of tokens) {
        for (const way of waysTo(operation)) {
          const { status, text } = await askOperation(served, token, operation, input, way);
          if (status === 200) answered++;
          hear(operation.name, text);
        }
      }
    }
  }
  return answered;
}
