// What a content type says: the kind of the body, its charset, and the ending of a file that holds it.

export type MediaType = { readonly type: string; readonly charset: string | undefined };

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["text/html", "html"],
  ["application/xhtml+xml", "html"],
  ["text/plain", "txt"],
  ["text/markdown", "md"],
  ["text/csv", "csv"],
  ["text/css", "css"],
  ["text/javascript", "js"],
  ["text/xml", "xml"],
  ["application/javascript", "js"],
  ["application/json", "json"],
  ["application/x-ndjson", "jsonl"],
  ["application/xml", "xml"],
  ["application/yaml", "yaml"],
  ["application/pdf", "pdf"],
  ["application/zip", "zip"],
  ["application/gzip", "gz"],
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/mpeg", "mp3"],
  ["video/mp4", "mp4"],
]);

const TEXTUAL = /^(text\/.*|.*\+(json|xml)|application\/(json|x-ndjson|xml|yaml|javascript|x-www-form-urlencoded))$/;

export function parseMediaType(contentType: string): MediaType {
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim());
  const charset = parameters.find((parameter) => /^charset\s*=/i.test(parameter));
  return { type: type.toLowerCase(), charset: charset?.slice(charset.indexOf("=") + 1).replace(/["'\s]/g, "") };
}

export function isTextual({ type }: MediaType): boolean {
  return TEXTUAL.test(type);
}

export function isHtml({ type }: MediaType): boolean {
  return type === "text/html" || type === "application/xhtml+xml";
}

/** Never taken from the URL. */
export function fileEnding({ type }: MediaType, isText: boolean): string {
  const known = ENDINGS.get(type);
  if (known !== undefined) return known;
  if (type.endsWith("+json")) return "json";
  if (type.endsWith("+xml")) return "xml";
  return isText ? "txt" : "bin";
}
