// How the gateway names the people for whom it stores something: a type and a key, such as `user:7`.
import { holdfastError } from "../contracts/error.ts";

/** Throws `invalid_argument` for an id without a type: under `7`, what was stored for `user:7` would not be found. */
export function personId(id: unknown): string {
  if (typeof id === "string" && /^[^:]+:./s.test(id)) return id;
  const shown = JSON.stringify(id) ?? String(id);
  throw holdfastError("invalid_argument", `user_id must be a type and a key, such as "user:7"; it is ${shown}.`);
}
