// What threads keep beside their history, as it is read: values, variables, effects.
import type { EffectStatus, VariableType } from "./write.ts";

export type StoredVariable = {
  readonly name: string;
  readonly sealed: string;
  readonly type: VariableType;
  readonly inherited: boolean;
};

export type StoredEffect = {
  readonly id: string;
  readonly thread_id: string;
  readonly name: string;
  /** Sealed JSON. */
  readonly args: string;
  readonly status: EffectStatus;
  readonly scheduled_at: number;
  readonly created_at: number;
  readonly attempts: number;
  readonly error: string | null;
  readonly completed_at: number | null;
  readonly manual_run: boolean;
  readonly manual_run_at: number | null;
  readonly replayed_from: string | null;
};

export interface StateStore {
  value(threadId: string, key: string): Promise<string | undefined>;
  values(threadId: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
  userValue(userId: string, key: string): Promise<string | undefined>;
  userValues(userId: string): Promise<readonly { readonly key: string; readonly value: string }[]>;
  variables(threadId: string): Promise<readonly StoredVariable[]>;
  effect(threadId: string, id: string): Promise<StoredEffect | undefined>;
  /** Newest first. */
  effects(
    threadId: string,
    query: { readonly name?: string; readonly status?: EffectStatus; readonly limit?: number },
  ): Promise<readonly StoredEffect[]>;
  /** The one to run next: due, or begun by a worker that is gone. The oldest first. */
  dueEffect(threadId: string): Promise<StoredEffect | undefined>;
}
