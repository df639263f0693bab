// Where a child process meets its fate: at a point that it passes, numbered by occurrence. "after commit begun run_tool #2"
// is the second time that place was reached.
import type { OnCrashPoint } from "../engine/crash-points.ts";
import { tell } from "./told.ts";

export type Fate = {
  /** The point; without one the process lives. */
  readonly at?: string;
  /** `killed` unless given. `paused`: it sleeps where it stands until it is continued. */
  readonly fate?: "killed" | "paused";
  /** Passes points without a word: there are many, and nobody looks. */
  readonly quiet?: boolean;
};

/** To be told of every point that this process passes. */
export function meetFate({ at, fate = "killed", quiet = false }: Fate): OnCrashPoint {
  const times = new Map<string, number>();
  return (point) => {
    if (quiet) return;
    const time = (times.get(point) ?? 0) + 1;
    times.set(point, time);
    const name = `${point} #${time}`;
    tell({ kind: "point", name });
    if (at !== name) return;
    tell({ kind: fate, name });
    process.kill(process.pid, fate === "paused" ? "SIGSTOP" : "SIGKILL");
  };
}
