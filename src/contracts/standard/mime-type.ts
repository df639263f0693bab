// What kind of content a file holds, as far as its name tells, and which kinds are text.
import { extensionOf } from "./file-path.ts";

const byExtension: Readonly<Record<string, string>> = {
  txt: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  htm: "text/html",
  css: "text/css",
  js: "text/javascript",
  mjs: "text/javascript",
  ts: "text/x-typescript",
  tsx: "text/x-typescript",
  py: "text/x-python",
  sh: "text/x-shellscript",
  sql: "text/x-sql",
  json: "application/json",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  toml: "application/toml",
  pdf: "application/pdf",
  zip: "application/zip",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
};

const TEXT = /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript|x-ndjson)$|.*\+(?:json|xml|yaml)$)/;

/** The type that a file's name tells; undefined when it tells none. */
export function typeOfName(name: string): string | undefined {
  const extension = extensionOf(name);
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

/** The extension that files of a type usually have; `bin` when none is known. */
export function usualExtension(mimeType: string): string {
  const plain = bare(mimeType);
  return Object.keys(byExtension).find((extension) => byExtension[extension] === plain) ?? "bin";
}

/** True for what can be read line by line. */
export function isText(mimeType: string): boolean {
  return TEXT.test(bare(mimeType));
}

const LONGEST = 200;
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(; ?[a-z0-9-]+=[a-z0-9"_.-]+)?$/i;

/** True for what may stand as a type in a header, with one parameter at most. */
export function isMediaType(text: string): boolean {
  return text.length <= LONGEST && MEDIA_TYPE.test(text);
}

/** Without parameters such as the charset. */
function bare(mimeType: string): string {
  return mimeType.split(";", 1).join("").trim().toLowerCase();
}
