// The path of a webhook: written as the server compares it, and at no place where the server answers itself.

const PATH = /^\/[^\s?#\\]{0,199}$/;

export type WebhookPath = { readonly path: string } | { readonly problem: string };

/** The path as the server sees it in requests, or a sentence about what is wrong with it. */
export function readWebhookPath(text: string): WebhookPath {
  const path = PATH.test(text) ? decoded(text) : undefined;
  if (path === undefined || !PATH.test(path)) {
    return { problem: "takes a path that begins with / and has neither spaces nor ? or #." };
  }
  if (path === "/") return { problem: "is at /, where the server answers itself; choose another such as /hooks/name." };
  const segments = withoutSlash(path).split("/").slice(1);
  if (segments.some((segment) => segment === "." || segment === "..")) return { problem: "has a segment of dots." };
  if (segments.some((segment) => segment === "")) return { problem: "has an empty segment." };
  const taken = serverPaths.find((each) => isBelow(withoutSlash(path), each));
  if (taken === undefined) return { path };
  return { problem: `is at ${taken}, where the server answers itself; choose another such as /hooks/name.` };
}

/** Two paths that differ in a slash at the end alone are taken for one. */
export function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** As the server decodes the path of a request: what would be a separator stays as it was written. */
function decoded(path: string): string | undefined {
  try {
    return decodeURI(path.replaceAll("%25", "%2525"));
  } catch {
    return undefined;
  }
}

/** Where the routes of the server begin, up to their first parameter. A test compares them with its routes. */
export const serverPaths: readonly string[] = [
  ...["/abilities", "/agents", "/agents-api/v1", "/api/agents", "/api/chat", "/approvals", "/audit", "/auth"],
  ...["/calls", "/channels", "/chats", "/config", "/dispatch-message", "/doctor", "/events", "/files", "/grants"],
  ...["/guidelines", "/health", "/healthz", "/job", "/job-logs", "/jobs", "/mcp", "/memories", "/metrics"],
  ...["/openapi.json", "/pipeline", "/pipelines", "/plugin", "/plugins", "/ready", "/reference", "/requests", "/runs"],
  ...[
    "/runtime-tool-requests",
    "/scheduler",
    "/sessions",
    "/switches",
    "/system",
    "/threads",
    "/tokens",
    "/tools",
    "/v1",
    "/workflow-runs",
    "/workflows",
  ],
];
