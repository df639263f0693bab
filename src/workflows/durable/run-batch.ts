// Everything that one commit of a run writes, collected while the machine goes on.
import type { NewRequest, RequestStatus } from "../../backend/request-store.ts";
import type { CallChange } from "../../backend/thread-commit.ts";
import type { Write } from "../../backend/write.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { WithDigests } from "../../contracts/workflows/step-digest.ts";
import type { Fact } from "../machine/facts.ts";
import type { Step } from "../machine/next.ts";
import type { WrittenStep } from "./stored-bodies.ts";

type ClosedRequest = { readonly id: string; readonly from: RequestStatus; readonly to: RequestStatus };

/** A fact as the record log keeps it, with the digests of what its commit wrote. */
export type LoggedFact = Fact & WithDigests;

export class RunBatch {
  readonly facts: Fact[] = [];
  readonly calls: CallChange[] = [];
  readonly opened: NewRequest[] = [];
  readonly closed: ClosedRequest[] = [];
  /** Inbox entries that were taken. */
  readonly drained: number[] = [];
  readonly writes: Write[] = [];
  /** A finding for operators: an undo that failed, or a step whose outcome is unknown. */
  hasProblem = false;
  readonly #changed = new Set<string>();

  get isEmpty(): boolean {
    return this.facts.length + this.calls.length + this.drained.length + this.writes.length + this.closed.length === 0;
  }

  /** False for beginning once more what was begun before: a step that kills its process is not tried for ever. */
  get progresses(): boolean {
    const isNews = ({ type }: Fact) => type !== "step.begun";
    return this.facts.some(isNews) || this.drained.length + this.closed.length > 0;
  }

  /** How many steps have come to an end of their own. */
  get carriedOut(): number {
    return this.facts.filter((fact) => fact.type === "step.ended" && (fact.as === "succeeded" || fact.as === "failed"))
      .length;
  }

  /** The ledger: what came of a call. */
  endCall(number: number, phase: "settled" | "unknown", outcome: JsonMap): void {
    this.calls.push({ change: "ended", number, phase, outcome: JSON.stringify(outcome), message_seq: null });
  }

  add({ facts, changed }: Pick<Step, "facts" | "changed">): void {
    this.facts.push(...facts);
    for (const path of changed) this.#changed.add(path);
  }

  /**
   * The rows of the steps that have changed, and the facts with their digests. Called once, right before the commit. `taken`: the
   * digests of what stood there before the run began.
   */
  written(
    stepAt: (path: string) => WrittenStep,
    taken: Readonly<Record<string, string>> = {},
  ): { readonly writes: readonly Write[]; readonly records: string } {
    const digests = new Map<string, string>();
    const writes: Write[] = [];
    for (const path of this.#changed) {
      const { write, digest } = stepAt(path);
      writes.push(write);
      digests.set(path, digest);
    }
    const logged = this.facts.map((fact): LoggedFact => {
      const body = "path" in fact ? digests.get(fact.path) : undefined;
      return body === undefined ? fact : { ...fact, body };
    });
    const others = new Map([...Object.entries(taken), ...digests]);
    for (const fact of this.facts) if ("path" in fact && digests.has(fact.path)) others.delete(fact.path);
    // What no fact names stands with the last one of the commit.
    const last = logged.at(-1);
    if (last && others.size > 0) logged[logged.length - 1] = { ...last, bodies: Object.fromEntries(others) };
    return { writes: [...writes, ...this.writes], records: JSON.stringify(logged) };
  }
}

/** What a commit is named after at the places where a crash is tried. */
export function pointOf({ facts, drained }: RunBatch, isSettled: boolean): string {
  const name = facts.at(-1)?.type ?? (drained.length > 0 ? "inbox" : "nothing");
  return isSettled ? `${name} and settle` : name;
}
