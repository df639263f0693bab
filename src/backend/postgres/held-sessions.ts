// Which session names are held. Whoever looks after other workers asks about one name after the other, again and again;
// all of them are answered by one question.
import type { Row, Scalar } from "../sql-driver.ts";

export type HeldSessionsOptions = {
  lockKey(name: string): string;
  read(sql: string, params: readonly Scalar[]): Promise<readonly Row[]>;
};

/** For how long a name that was asked about is taken to be asked about again. */
const REMEMBERED_MILLISECONDS = 60_000;

/** Shared and only for this transaction: those who look do not see each other, only the one who holds it. */
const LOOK = `select cast(name_key as text) as name_key, pg_try_advisory_xact_lock_shared(name_key) as free
  from unnest(cast($1 as bigint[])) as name_key`;

/**
 * An answer is only good once, and for as long as nothing else can have been heard: until the event loop goes on. Who
 * asks about the same name in a loop would otherwise keep it from going on.
 */
export function createHeldSessions({ lockKey, read }: HeldSessionsOptions): (name: string) => Promise<boolean> {
  const asked = new Map<string, { readonly key: string; readonly at: number }>();
  let answers = new Map<Scalar | undefined, boolean>();

  async function look(key: string): Promise<boolean> {
    const keys = Array.from(asked.values(), (each) => each.key);
    const rows = await read(LOOK, [`{${keys.join()}}`]);
    const found = new Map(rows.map(({ name_key, free }) => [name_key, free === 0]));
    const isHeld = found.get(key) === true;
    found.delete(key);
    answers = found;
    setImmediate(() => found.clear());
    return isHeld;
  }

  return async (name) => {
    const now = performance.now();
    const key = asked.get(name)?.key ?? lockKey(name);
    asked.set(name, { key, at: now });
    const known = answers.get(key);
    answers.delete(key);
    if (known !== undefined) return known;
    for (const [each, { at }] of asked) if (now - at > REMEMBERED_MILLISECONDS) asked.delete(each);
    return look(key);
  };
}
