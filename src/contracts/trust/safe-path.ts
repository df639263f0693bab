// What a safe workspace and a file in it may be called: a name of one word, and a path that cannot lead out.
import { scalarText, trim } from "../coerce.ts";

const HANDLE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The handle of a workspace without space around it; undefined for what is none. */
export function safeHandle(value: unknown): string | undefined {
  const handle = trim(scalarText(value) ?? "");
  return HANDLE.test(handle) ? handle : undefined;
}

/**
 * The segments of a relative path without space around it, none for the place that it starts from; undefined for what is no
 * path, and for all that goes up.
 */
export function safeSegments(value: unknown): readonly string[] | undefined {
  const path = trim(scalarText(value) ?? "").replaceAll("\\", "/");
  if (path === "" || path.startsWith("/") || path.includes("\0") || !path.isWellFormed()) return undefined;
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.includes("..") ? undefined : segments;
}
