// Finds tags in text that is not XML but contains some. Every pattern stops at the next angle bracket and every search
// goes forward, so the time taken grows with the text and no faster, whatever a model wrote.

export type TagBody = { readonly name: string; readonly body: string };

const opening = {
  invoke: /<invoke\s+name\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>/gi,
  parameter: /<parameter\s+name\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>/gi,
  named_tool_call: /<tool_call\s+name\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>/gi,
  tool_call: /<tool_call>/gi,
};

const closing = {
  invoke: /<\/invoke>/gi,
  parameter: /<\/parameter>/gi,
  named_tool_call: /<\/tool_call>/gi,
  tool_call: /<\/tool_call>/gi,
};

/**
 * The tags of a kind that are closed, or the first so many of them, with their name attribute and what stands between.
 * Upper and lower case are the same.
 */
export function tagBodies(
  text: string,
  tag: keyof typeof opening,
  most = Number.POSITIVE_INFINITY,
): readonly TagBody[] {
  const found: TagBody[] = [];
  const open = opening[tag];
  const close = closing[tag];
  open.lastIndex = 0;
  while (found.length < most) {
    const match = open.exec(text);
    if (match === null) break;
    close.lastIndex = open.lastIndex;
    const end = close.exec(text);
    if (end === null) break;
    found.push({ name: match[1] ?? match[2] ?? "", body: text.slice(open.lastIndex, end.index) });
    open.lastIndex = close.lastIndex;
  }
  return found;
}
