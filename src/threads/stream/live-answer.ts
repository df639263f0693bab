// An answer while a model is giving it, as readers are told of it: pieces in the order in which they were said.
import type { LiveSegment, LiveText } from "../../backend/live-text.ts";
import { isMap } from "../../contracts/json.ts";
import type { ToolMap } from "../../contracts/tools/declaration.ts";
import { createInputRedactor } from "./redact-input.ts";

export type LiveAnswer = {
  /** The same object all along; its segments grow. */
  readonly text: LiveText;
  /** The words of it, without thoughts and arguments. */
  readonly said: string;
  /** Takes in what a model says through `onDelta`. False when that tells nothing new. */
  add(delta: unknown): boolean;
};

/** What a piece is part of, and its letters. */
type Piece = LiveSegment & { readonly part: string };

/** `tools`: those that the model may call, for what is hidden of their arguments; null when no arguments may be shown. */
export function createLiveAnswer(about: Omit<LiveText, "segments">, tools: ToolMap | null): LiveAnswer {
  // A segment for each piece. Making one text longer and longer would have it copied for every reader, piece by piece.
  const segments: LiveSegment[] = [];
  const redactors = new Map<string, (piece: string) => string>();
  /** Halves of a character of two, by the part that is to go on with the other half. */
  const halves = new Map<string, string>();
  let said = "";

  function shown({ part, ...segment }: Piece): LiveSegment | undefined {
    if (segment.type !== "tool_input") return segment;
    if (!tools) return undefined;
    let redactor = redactors.get(part);
    if (!redactor) {
      redactor = createInputRedactor(Object.hasOwn(tools, segment.name) ? (tools[segment.name] ?? null) : null);
      redactors.set(part, redactor);
    }
    return { ...segment, text: redactor(segment.text) };
  }

  /** The text with the half before it, and without the half that it ends with. */
  function whole(part: string, text: string): string {
    const all = (halves.get(part) ?? "") + text;
    halves.delete(part);
    if (!/[\uD800-\uDBFF]$/.test(all)) return all;
    halves.set(part, all.slice(-1));
    return all.slice(0, -1);
  }

  return {
    text: { ...about, segments },
    get said() {
      return said;
    },
    add(delta) {
      const piece = readDelta(delta);
      const segment = piece && shown(piece);
      const text = segment && whole(piece.part, segment.text);
      if (!text) return false;
      segments.push({ ...segment, text });
      if (segment.type === "text") said += text;
      return true;
    },
  };
}

/** A model is a function of anybody's: what is no delta, and kinds that we do not know, are passed over. */
function readDelta(delta: unknown): Piece | undefined {
  if (!isMap(delta)) return undefined;
  const { type, text, id, name } = delta;
  if (typeof text !== "string") return undefined;
  if (type === "text" || type === "reasoning") return { type, text, part: type };
  if (type !== "tool_input" || typeof id !== "string" || typeof name !== "string") return undefined;
  return { type, id, name, text, part: `${type} ${id}` };
}
