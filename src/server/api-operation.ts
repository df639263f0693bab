// What the description for machines says about one method of one path.
import type { UnknownMap } from "../contracts/json.ts";

export type ApiOperation = UnknownMap & { readonly operationId: string; readonly summary: string };

/** By path, and there by method. */
export type ApiPaths = Record<string, Record<string, ApiOperation>>;
