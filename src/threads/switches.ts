// Tools and agents that operators have switched off. What is set counts in every process within about a second: those that
// run threads hear of it and look twice a second, others look when they are asked and have not looked for a second.
import type { StoredSwitch, SwitchKind, SwitchStore } from "../backend/switch-store.ts";
import { holdfastError } from "../contracts/error.ts";
import { declaredName } from "../contracts/standard/names.ts";
import { checkFields, checkName, checkText } from "./check-arguments.ts";

export type Switch = StoredSwitch;

export type SwitchSetting = {
  /** True switches it off. */
  readonly off: boolean;
  /** Why, for whoever finds it off. */
  readonly reason?: string;
  /** Who says so, in words such as `user:12`. */
  readonly by?: string;
};

export interface Switches {
  /**
   * A tool that is off is refused at the moment it would run, and the model is told. An agent that is off is not asked
   * any more: what its threads are doing comes to an end first, what is sent to them waits until it is on again.
   */
  set(kind: SwitchKind, name: string, setting: SwitchSetting): Promise<void>;
  /** Those that are off, and those that were. */
  list(): Promise<readonly Switch[]>;
}

/** The same, for those who run threads. */
export interface KnownSwitches extends Switches {
  /** What is off, as far as this process knows; undefined for what is not. */
  find(kind: SwitchKind, name: string): Switch | undefined;
  /** Looks again, if this process has not for a while. */
  findNow(kind: SwitchKind, name: string): Promise<Switch | undefined>;
  /** The agents that are off. */
  readonly agentsOff: readonly string[];
  /** Looks again. What goes wrong is told, and what was known still counts. */
  refresh(): Promise<void>;
}

const LONGEST_UNSEEN_MS = 1_000;

type Lent = {
  readonly store: SwitchStore;
  /** True when others may set one, too. */
  readonly isShared: boolean;
  readonly report: (error: unknown) => void;
};

/** With what is set already. */
export async function createSwitches({ store, isShared, report }: Lent): Promise<KnownSwitches> {
  let off: ReadonlyMap<string, Switch> = new Map();
  let seenAt = 0;
  let [looks, seen] = [0, 0];
  const keyOf = (kind: SwitchKind, name: string) => `${kind} ${name}`;

  async function look(): Promise<void> {
    const own = ++looks;
    const at = performance.now();
    const found = (await store.list()).filter((each) => each.off);
    // Whoever looked later has seen more, though this answer came after theirs.
    if (own < seen) return;
    off = new Map(found.map((each) => [keyOf(each.kind, each.name), each]));
    seenAt = at;
    seen = own;
  }

  const refresh = () => look().catch(report);

  await look();
  return {
    async set(kind, name, setting) {
      if (kind !== "tool" && kind !== "agent") throw holdfastError("invalid_argument", "kind must be tool or agent");
      checkName("name", name);
      checkFields("setting", setting, ["off", "reason", "by"]);
      const { off: isOff, reason = "", by = "" } = setting;
      if (typeof isOff !== "boolean") throw holdfastError("invalid_argument", "off must be true or false");
      checkText("reason", reason);
      checkText("by", by);
      // A plain name is another name for the one that it is declared under.
      const known = kind === "tool" ? declaredName(name) : name;
      await store.set({ kind, name: known, off: isOff, reason, set_by: by });
      await look();
    },
    list: () => store.list(),
    find: (kind, name) => off.get(keyOf(kind, name)),
    async findNow(kind, name) {
      if (isShared && performance.now() - seenAt > LONGEST_UNSEEN_MS) await refresh();
      return off.get(keyOf(kind, name));
    },
    get agentsOff() {
      return [...off.values()].filter(({ kind }) => kind === "agent").map(({ name }) => name);
    },
    refresh,
  };
}
