// What whoever moves a database throws when somebody else got hold of one of the two meanwhile.
import { type HoldfastError, holdfastError } from "../../../contracts/error.ts";

export function overtaken(detail: string): HoldfastError {
  return holdfastError("move_overtaken", detail);
}
