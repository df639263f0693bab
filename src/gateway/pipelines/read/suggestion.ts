// The end of a problem about a name that is not known.
import { nearestName } from "../../../contracts/nearest-name.ts";

/** ` Did you mean "x"?`, or nothing when no name is near. */
export function suggestion(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}
