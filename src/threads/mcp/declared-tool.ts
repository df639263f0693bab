// A tool as an MCP server declares it, reduced to what a model is shown and what decides how it is called. Any change to
// that is another tool, which nobody has allowed.
import type { Tool as ListedTool } from "@modelcontextprotocol/client";
import { sha256, sortedText } from "../../contracts/canonical-json.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";

export type DeclaredTool = {
  /** The server's own name for it. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonMap;
  readonly outputSchema?: JsonMap;
  readonly annotations?: JsonMap;
};

export function declaredTool(listed: ListedTool | DeclaredTool): DeclaredTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = listed;
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: snapshotMap(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: snapshotMap(outputSchema) }),
    ...(annotations !== undefined && { annotations: snapshotMap(annotations) }),
  };
}

/** The same for the same declaration, in whatever order its fields stand. */
export function fingerprint(declared: DeclaredTool): string {
  return sha256(sortedText(declared));
}

/** True when the server says that calling it again does nothing more. */
export function isSafeToRepeat({ annotations = {} }: DeclaredTool): boolean {
  return annotations.readOnlyHint === true || annotations.idempotentHint === true;
}

/** The name within its namespace: small letters, digits, underscores and hyphens. */
export function slugOf(name: string): string {
  const slug = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "_");
  return /^[a-z]/.test(slug) ? slug : `tool_${slug}`;
}
