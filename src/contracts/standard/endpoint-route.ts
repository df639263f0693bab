// The routes below a thread: how a path is written, how a file's name says one, and which of several is meant.
import { trimmed } from "../coerce.ts";

export type Route = {
  /** Segments without a slash at either end; `[name]` captures one, `[*]` at the end any number. */
  readonly path: string;
  /** In capital letters. */
  readonly method: string;
};

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
const REST = "[*]";
const CAPTURE = /^\[([A-Za-z_][\w-]*)\]$/;
const STATIC = /^[^[\]/?#\s]+$/;

/** A method in capital letters; undefined for what is none. */
export function readMethod(given: unknown): string | undefined {
  const method = trimmed(given)?.toUpperCase();
  return method !== undefined && METHODS.has(method) ? method : undefined;
}

/** A path in the form in which it is kept; undefined when it cannot be one. The empty path is the thread itself. */
export function readPath(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const segments = segmentsOf(given);
  const captures = segments.map((segment) => CAPTURE.exec(segment)?.[1]).filter((name) => name !== undefined);
  const isWritten = segments.every((segment, index) =>
    segment === REST ? index === segments.length - 1 : CAPTURE.test(segment) || isStatic(segment),
  );
  return isWritten && new Set(captures).size === captures.length ? segments.join("/") : undefined;
}

/** The route that a file says by its name: `report/[id].post.ts` is POST `report/[id]`, and an index is its folder. */
export function routeOfFile(file: string): Route | undefined {
  const parts = segmentsOf(file.replace(/\.[^./]+$/, ""));
  const last = parts.pop() ?? "";
  const dot = last.lastIndexOf(".");
  const said = dot > 0 ? readMethod(last.slice(dot + 1)) : undefined;
  const name = said === undefined ? last : last.slice(0, dot);
  const path = readPath([...parts, ...(name === "index" ? [] : [name])].join("/"));
  return path === undefined ? undefined : { path, method: said ?? "GET" };
}

/** The same for two routes that always match together, whatever they call what they capture. */
export function shapeOf({ path, method }: Route): string {
  const shape = segmentsOf(path).map((segment) => (CAPTURE.test(segment) ? "[]" : segment));
  return `${method} ${shape.join("/")}`;
}

/**
 * The endpoint that is meant, with what its path captures: what is written out comes before what captures one segment, and
 * that before what captures the rest. Undefined when there is none for that method and path.
 */
export function matchEndpoint<Endpoint extends Route>(
  endpoints: readonly Endpoint[],
  method: string,
  path: string,
): { readonly endpoint: Endpoint; readonly params: Readonly<Record<string, string>> } | undefined {
  const asked = decoded(path);
  const wanted = readMethod(method);
  if (!asked || wanted === undefined) return undefined;
  const matching = endpoints.flatMap((endpoint) => {
    const params = endpoint.method === wanted ? capturedBy(endpoint.path, asked) : undefined;
    return params ? [{ endpoint, params }] : [];
  });
  return matching.sort((left, right) => comparePaths(left.endpoint.path, right.endpoint.path))[0];
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

function isStatic(segment: string): boolean {
  return STATIC.test(segment) && segment !== "." && segment !== "..";
}

/** Undefined for what is not well encoded. */
function decoded(path: string): readonly string[] | undefined {
  try {
    return segmentsOf(path).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function capturedBy(path: string, asked: readonly string[]): Readonly<Record<string, string>> | undefined {
  const params: [string, string][] = [];
  const segments = segmentsOf(path);
  for (const [index, segment] of segments.entries()) {
    const value = asked[index];
    if (segment === REST) return Object.fromEntries([...params, ["*", asked.slice(index).join("/")]]);
    const name = CAPTURE.exec(segment)?.[1];
    if (value === undefined || (name === undefined && segment !== value)) return undefined;
    if (name !== undefined) params.push([name, value]);
  }
  return asked.length === segments.length ? Object.fromEntries(params) : undefined;
}

/** Segment by segment: the first that is more exact decides. */
function comparePaths(left: string, right: string): number {
  const [ours, theirs] = [segmentsOf(left), segmentsOf(right)];
  for (let index = 0; index < Math.max(ours.length, theirs.length); index++) {
    const difference = rank(ours[index]) - rank(theirs[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A path that ends where another captures the rest is the more exact one. */
function rank(segment: string | undefined): number {
  if (segment === undefined) return 0;
  if (segment === REST) return 2;
  return CAPTURE.test(segment) ? 1 : 0;
}
