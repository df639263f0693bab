// Large values become artifacts: what a planner is shown, and what is stored in a run, stays small.
import { byteLength } from "../../../contracts/canonical-json.ts";
import { isMap, type Json, type JsonMap } from "../../../contracts/json.ts";
import type { RunWorkspace } from "./workspace.ts";

/** Of JSON text in UTF-8; larger results are kept as artifacts. */
const MOST_BYTES = 32 * 1024;
/** Payloads stand in the agent's state, of which there is one for all runs. */
const MOST_PENDING_BYTES = 8 * 1024;
const EXCERPT_CHARACTERS = 2_000;

/**
 * The result as it is when it is small. Of a large one the text, or the whole as JSON, is written to
 * `artifacts/<tool>-<step>.<ext>`; the path, its content type and an excerpt take its place. A file that the tool has
 * written under this name stays, and the result goes to `artifacts/<tool>-<step>-result.<ext>`.
 */
export async function keepResult(
  workspace: RunWorkspace,
  { tool, step, result }: { readonly tool: string; readonly step: number; readonly result: Json },
): Promise<Json> {
  if (byteLength(JSON.stringify(result)) <= MOST_BYTES) return result;
  const { content, content_type, rest } = largestPart(result);
  const name = `artifacts/${fileName(tool)}-${String(step).padStart(2, "0")}`;
  const path = await freePath(workspace, { name, extension: extensionOf(content_type), content });
  await workspace.writeArtifact(path, content);
  const excerpt = content.slice(0, EXCERPT_CHARACTERS).toWellFormed();
  // A tool that has written an artifact itself names that one.
  return { artifact_path: path, content_type, excerpt, ...rest };
}

/** The tool's own file may hold more than its event does. A turn that is taken again finds the file it has written. */
async function freePath(
  workspace: RunWorkspace,
  { name, extension, content }: { readonly name: string; readonly extension: string; readonly content: string },
): Promise<string> {
  const path = `${name}.${extension}`;
  const isFree =
    !(await workspace.hasArtifact(path)) || (await workspace.readArtifact(path)) === content.toWellFormed();
  return isFree ? path : `${name}-result.${extension}`;
}

type Part = { readonly content: string; readonly content_type: string; readonly rest: JsonMap };

/** The longest text of a map, if what is left without it is small; otherwise the whole. */
function largestPart(result: Json): Part {
  if (typeof result === "string") return { content: result, content_type: "text/plain", rest: {} };
  const whole = { content: JSON.stringify(result), content_type: "application/json", rest: {} };
  if (!isMap(result)) return whole;
  const texts = Object.entries(result).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const [key, content] = texts.reduce(
    (longest, each) => (each[1].length > longest[1].length ? each : longest),
    ["", ""],
  );
  const { [key]: _kept, ...rest } = result as JsonMap;
  if (byteLength(JSON.stringify(rest)) > MOST_BYTES / 2) return whole;
  const { content_type } = result;
  return { content, content_type: typeof content_type === "string" ? content_type : "text/plain", rest };
}

const extensions: Readonly<Record<string, string>> = {
  "text/html": "html",
  "text/markdown": "md",
  "text/csv": "csv",
  "text/xml": "xml",
  "application/xml": "xml",
  "application/json": "json",
};

function extensionOf(contentType: string): string {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  return Object.hasOwn(extensions, type) ? (extensions[type] ?? "txt") : "txt";
}

/** The name of a tool as part of a file's name. */
function fileName(tool: string): string {
  return tool.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 64);
}

/** Stands in `pending_payload` for a payload that is kept in the workspace. */
const KEPT = "payload_artifact";
const KEPT_PATH = /^artifacts\/request-\d{2,}\.json$/;

/** The payload of a request as the run stores it. */
export async function keepPayload(workspace: RunWorkspace, step: number, payload: JsonMap): Promise<JsonMap> {
  const content = JSON.stringify(payload);
  if (byteLength(content) <= MOST_PENDING_BYTES) return payload;
  const path = `artifacts/request-${String(step).padStart(2, "0")}.json`;
  await workspace.writeArtifact(path, content);
  return { [KEPT]: path };
}

/** The payload that a run has stored; undefined when the artifact it was kept in is gone. */
export async function keptPayload(workspace: RunWorkspace, stored: JsonMap): Promise<JsonMap | undefined> {
  const { [KEPT]: path, ...others } = stored;
  if (typeof path !== "string" || !KEPT_PATH.test(path) || Object.keys(others).length > 0) return stored;
  const content = await workspace.readArtifact(path);
  return content === undefined ? undefined : readPayload(content);
}

/** Tools can write to the workspace, so what is read back may be anything. */
function readPayload(content: string): JsonMap | undefined {
  try {
    const read: unknown = JSON.parse(content);
    return isMap(read) ? (read as JsonMap) : undefined;
  } catch {
    return undefined;
  }
}
