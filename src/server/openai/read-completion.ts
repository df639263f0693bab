// An answer as the pieces of a completion: words in the order in which they are said, and the call that a client is to run.
import type { AnswerEvent, Asked } from "../chat/answer-event.ts";

export type CompletionReader = {
  /** More words. */
  add(event: AnswerEvent): string;
  /** What the answer waits for, where it ends without its run having ended. */
  waitsFor(): Asked | undefined;
};

/** Between two things that are said. */
export const GAP = "\n\n";

export function createCompletionReader(): CompletionReader {
  let asked: Asked | undefined;
  /** What was said in this step, and what the attempt at it that counts has said. */
  let told = "";
  let said = "";
  let isAnythingTold = false;

  function words(text: string): string {
    said += text;
    // Another attempt says the same again, mostly.
    if (told.startsWith(said)) return "";
    const isMore = said.startsWith(told);
    const gap = isAnythingTold && (told === "" || !isMore) ? GAP : "";
    const more = gap + (isMore ? said.slice(told.length) : said);
    told = said;
    isAnythingTold = true;
    return more;
  }

  return {
    add(event) {
      switch (event.type) {
        case "step":
          told = "";
          said = "";
          return "";
        case "restarted":
          // What was sent cannot be taken back.
          said = "";
          return "";
        case "text":
          return words(event.text);
        case "asked":
          ({ asked } = event);
          return "";
        case "result":
          asked = undefined;
          return "";
        default:
          return "";
      }
    },
    waitsFor: () => asked,
  };
}
