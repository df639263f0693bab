// The text of a body: decoded by its charset, as plain text, and clipped.
import { isHtml, isTextual, type MediaType } from "./media-type.ts";

/** The body as text; undefined when it is binary. */
export function decodeText(body: Buffer, media: MediaType): string | undefined {
  if (media.type !== "" && !isTextual(media)) return undefined;
  if (media.type === "" && !looksLikeText(body)) return undefined;
  return decoder(body, media).decode(body).replaceAll("\0", "\ufffd");
}

/** The first characters, without half of one at the end. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The beginning as plain text on one line. */
export function excerptOf(text: string, media: MediaType, length: number): string {
  const start = clip(text, 65_536);
  return clip((isHtml(media) ? htmlToText(start) : start).replace(/\s+/g, " ").trim(), length);
}

/** What is left of a page without its tags, scripts and styles. Reads every character once. */
export function htmlToText(html: string): string {
  // Only ASCII, so that positions in both are the same.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) break;
    parts.push(html.slice(at, open));
    const { text, end } = afterTag(html, lower, open);
    parts.push(text);
    at = end;
  }
  parts.push(html.slice(at));
  return decodeEntities(parts.join(""))
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n\s*/g, "\n")
    .trim();
}

const HIDDEN = ["script", "style", "template", "noscript"];

function afterTag(html: string, lower: string, open: number): { text: string; end: number } {
  if (!/[a-z!/?]/.test(lower.charAt(open + 1))) return { text: "<", end: open + 1 };
  if (lower.startsWith("<!--", open)) return { text: "", end: endAfter(html, "-->", open + 4) };
  const hidden = HIDDEN.find(
    (name) => lower.startsWith(`<${name}`, open) && !/[a-z\d-]/.test(lower.charAt(open + 1 + name.length)),
  );
  const start = hidden === undefined ? open : endBefore(lower, `</${hidden}`, open);
  const isInline = /^<\/?(a|abbr|b|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u)[\s>/]/.test(
    lower.slice(open, open + 9),
  );
  return { text: isInline ? "" : "\n", end: endAfter(html, ">", start) };
}

function endAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

function endBefore(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}

function looksLikeText(body: Buffer): boolean {
  if (body.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body);
    return true;
  } catch {
    return false;
  }
}

/** By the mark at the beginning, the content type, the document's own declaration, and UTF-8 after that. */
function decoder(body: Buffer, media: MediaType): TextDecoder {
  const labels = [markedCharset(body), media.charset, declaredCharset(body, media)];
  for (const label of labels) {
    try {
      if (label !== undefined) return new TextDecoder(label);
    } catch {
      // An encoding that does not exist counts as not named.
    }
  }
  return new TextDecoder();
}

function markedCharset(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return undefined;
}

function declaredCharset(body: Buffer, media: MediaType): string | undefined {
  const start = body.toString("latin1", 0, 1_024);
  if (isHtml(media)) return /<meta[^>]{0,256}charset\s{0,9}=\s{0,9}["']?([\w-]{1,40})/i.exec(start)?.[1];
  return /^<\?xml[^>]{0,256}encoding\s{0,9}=\s{0,9}["']([\w-]{1,40})/.exec(start)?.[1];
}
