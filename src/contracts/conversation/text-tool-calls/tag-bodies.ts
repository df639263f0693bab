// Finds tags in text that is not XML but contains some. Every pattern stops at the next angle bracket and every search
// goes forward, so the time taken grows with the text and no faster, whatever a model wrote.

export type TagBody = { readonly name: string; readonly body: string };

const opening = {
  invoke: /<invoke\s+name\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>/g,
  parameter: /<parameter\s+name\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>/g,
  named_tool_call: /<tool_call\s+name\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>/g,
  tool_call: /<tool_call>/g,
};

const closing = {
  invoke: "</invoke>",
  parameter: "</parameter>",
  named_tool_call: "</tool_call>",
  tool_call: "</tool_call>",
};

/** The tags of a kind that are closed, or the first so many of them, with their name attribute and what stands between. */
export function tagBodies(
  text: string,
  tag: keyof typeof opening,
  most = Number.POSITIVE_INFINITY,
): readonly TagBody[] {
  const found: TagBody[] = [];
  const open = opening[tag];
  open.lastIndex = 0;
  while (found.length < most) {
    const match = open.exec(text);
    if (match === null) break;
    const end = text.indexOf(closing[tag], open.lastIndex);
    if (end === -1) break;
    found.push({ name: match[1] ?? match[2] ?? "", body: text.slice(open.lastIndex, end) });
    open.lastIndex = end + closing[tag].length;
  }
  return found;
}
