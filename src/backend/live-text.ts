// What models are saying just now, for readers in other processes. It is not part of the record: what a crash loses, the
// next attempt tells again.

/** A stretch of an answer in the making: words, thoughts, or the arguments of a call as JSON text that is not whole yet. */
export type LiveSegment =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string };

export type LiveText = {
  readonly thread_id: string;
  readonly step: number;
  readonly attempt: number;
  /** The number of the commit that will tell what came of it: this is told right before, and after every earlier one. */
  readonly commit: number;
  /** All that was said so far. It grows at its end only; neighbours may be of the same part. */
  readonly segments: readonly LiveSegment[];
};

export interface LiveTextStore {
  put(text: LiveText): Promise<void>;
  /** As it was put last, with neighbours of the same part as one. */
  get(threadIds: readonly string[]): Promise<readonly LiveText[]>;
  clear(threadId: string): Promise<void>;
}

/** True when two segments are of the same part, so that the second goes on where the first ends. */
function isSamePart(one: LiveSegment, other: LiveSegment): boolean {
  if (one.type !== "tool_input" || other.type !== "tool_input") return one.type === other.type;
  return one.id === other.id;
}

/** The segments with neighbours of the same part as one. */
export function joinSegments(segments: readonly LiveSegment[]): readonly LiveSegment[] {
  const joined: LiveSegment[] = [];
  for (let from = 0; from < segments.length; ) {
    const first = segments[from] as LiveSegment;
    let to = from + 1;
    while (to < segments.length && isSamePart(first, segments[to] as LiveSegment)) to++;
    const texts = segments.slice(from, to).map(({ text }) => text);
    joined.push(to - from === 1 ? first : { ...first, text: texts.join("") });
    from = to;
  }
  return joined;
}
