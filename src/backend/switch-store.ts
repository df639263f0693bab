// What operators have switched off: tools and agents, by their names.

export type SwitchKind = "tool" | "agent";

export type NewSwitch = {
  readonly kind: SwitchKind;
  readonly name: string;
  readonly off: boolean;
  /** Why, in words; empty when nobody said. */
  readonly reason: string;
  /** Who set it, in words such as `user:12`. */
  readonly set_by: string;
};

export type StoredSwitch = NewSwitch & { readonly set_at: number };

/** What whoever listens to the database is told when one was set. */
export const SWITCHED = "switched";

export interface SwitchStore {
  /** The last word counts. Everybody who listens is told. */
  set(given: NewSwitch): Promise<void>;
  /** Those that are off, and those that were and are on again. */
  list(): Promise<readonly StoredSwitch[]>;
}
