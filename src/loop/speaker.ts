// Who says what is said in a step. A side that is not the first writes as the other one sees it: what it says is a
// user's, and it is marked, so that each side can be shown its own words as its own.
import type { JsonMap } from "../contracts/json.ts";
import type { Step } from "./step.ts";

type Speaker = { readonly role: "assistant" | "user"; readonly metadata: JsonMap };

const first: Speaker = { role: "assistant", metadata: {} };
const second: Speaker = { role: "user", metadata: { side: "b" } };

/** A prompt that speaks for a call speaks to nobody but that. */
export function speakerOf({ state }: Step): Speaker {
  return state.standing?.side === "b" && state.frames.length === 0 ? second : first;
}
