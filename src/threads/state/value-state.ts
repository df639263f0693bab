// What a thread, and the user it belongs to, keep under keys of their own.
import type { Write } from "../../backend/write.ts";
import { HoldfastError, holdfastError } from "../../contracts/error.ts";
import { type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import { checkName } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import type { StateScope } from "./state-scope.ts";
import type { ThreadState } from "./thread-state.ts";

type ValueState = Pick<ThreadState, "getValue" | "setValue" | "getUserValue" | "setUserValue" | "listUserValues">;

/** What the runtime itself keeps with a thread. */
const RESERVED = "holdfast:";

type Read = (write: Write) => { readonly key: string; readonly value: string | null } | undefined;

export function valueState({ stores: { state } }: Host, { thread, buffer }: StateScope): ValueState {
  const { id: thread_id, user_id } = thread;
  const ofThread: Read = (write) => (write.write === "value" && write.thread_id === thread_id ? write : undefined);
  const ofUser: Read = (write) => (write.write === "user_value" && write.user_id === user_id ? write : undefined);

  /** What was written last under a key and is not stored yet; undefined when nothing was. */
  function unstored(key: string, read: Read): string | null | undefined {
    return buffer.writes.map(read).findLast((write) => write?.key === key)?.value;
  }

  return {
    async getValue(key) {
      checkName("key", key);
      const written = unstored(key, ofThread);
      return parsed(written === undefined ? await state.value(thread_id, key) : written);
    },
    async setValue(key, value) {
      checkName("key", key);
      if (key.startsWith(RESERVED)) throw holdfastError("invalid_argument", `key must not begin with "${RESERVED}".`);
      await buffer.write({ write: "value", thread_id, key, value: textOf(value) });
      // Without the value: whoever follows the thread may not be meant to see it.
      buffer.emit("kv_changed", { key });
    },
    async getUserValue(key) {
      checkName("key", key);
      if (user_id === null) return undefined;
      const written = unstored(key, ofUser);
      return parsed(written === undefined ? await state.userValue(user_id, key) : written);
    },
    async setUserValue(key, value) {
      checkName("key", key);
      if (user_id === null) throw holdfastError("invalid_argument", "setUserValue needs a thread that has a user.");
      await buffer.write({ write: "user_value", user_id, key, value: textOf(value) });
    },
    async listUserValues() {
      if (user_id === null) return {};
      const values = new Map((await state.userValues(user_id)).map(({ key, value }) => [key, value]));
      for (const write of buffer.writes) {
        const written = ofUser(write);
        if (written?.value === null) values.delete(written.key);
        else if (written) values.set(written.key, written.value);
      }
      return Object.fromEntries([...values].map(([key, value]) => [key, JSON.parse(value)])) as JsonMap;
    },
  };
}

function parsed(value: string | null | undefined): Json | undefined {
  return value == null ? undefined : (JSON.parse(value) as Json);
}

/** Null for what deletes a value. Throws `not_json` for what JSON would leave out or turn into something else. */
function textOf(value: unknown): string | null {
  if (value == null) return null;
  try {
    JSON.stringify(value, (_key, item: unknown) => {
      if (isLost(item))
        throw holdfastError("not_json", "The value cannot be stored: JSON has no form for a part of it.");
      return item;
    });
    return JSON.stringify(snapshot(value));
  } catch (thrown) {
    if (thrown instanceof HoldfastError) throw thrown;
    throw holdfastError("not_json", "The value cannot be stored: it contains itself or is nested too deep.", thrown);
  }
}

function isLost(item: unknown): boolean {
  if (typeof item === "number") return !Number.isFinite(item);
  if (item instanceof Map || item instanceof Set || ArrayBuffer.isView(item)) return true;
  return typeof item === "function" || typeof item === "symbol" || typeof item === "bigint";
}
