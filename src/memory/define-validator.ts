// Defines a validator: the host's check whether a memory still holds.
import { trimmed } from "../contracts/coerce.ts";
import { holdfastError } from "../contracts/error.ts";
import type { MemoryValidator } from "../contracts/memory/memory-validator.ts";

/** Throws `invalid_definition` with what is wrong. `validate` has two seconds. */
export function memoryValidator(validator: MemoryValidator): MemoryValidator {
  const id = trimmed(validator?.id);
  if (id === undefined) throw holdfastError("invalid_definition", "id must be a name (memory validator)");
  if (typeof validator.validate !== "function") {
    throw holdfastError("invalid_definition", `validate must be a function (memory validator ${id})`);
  }
  return Object.freeze({ id, validate: (...about) => validator.validate(...about) } satisfies MemoryValidator);
}
