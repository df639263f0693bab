// What is wrong with a workflow spec, and where.

/** Path and code are the contract's; the message is for people. */
export type SpecError = { readonly path: string; readonly code: string; readonly message: string };

export function specError(path: string, code: string, message: string): SpecError {
  return { path, code, message };
}

export function missing(path: string, what: string): SpecError {
  return specError(path, "missing_required", `${what} is missing.`);
}

export function notMap(path: string, what: string): SpecError {
  return specError(path, "invalid_type", `${what} is no map.`);
}

export function noDuration(path: string): SpecError {
  return specError(path, "invalid_duration", "It is no duration such as 30s, 1h30m or 2d.");
}
