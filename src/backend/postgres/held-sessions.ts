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

/** An answer is only good for as long as nothing else can have been heard: until the event loop goes on. */
export function createHeldSessions({ lockKey, read }: HeldSessionsOptions): (name: string) => Promise<boolean> {
  const asked = new Map<string, { readonly key: string; at: number }>();
  let answers: ReadonlyMap<Scalar | undefined, boolean> | undefined;

  async function look(): Promise<ReadonlyMap<Scalar | undefined, boolean>> {
    const keys = Array.from(asked.values(), ({ key }) => key);
    const rows = await read(LOOK, [`{${keys.join()}}`]);
    const found = new Map(rows.map(({ name_key, free }) => [name_key, free === 0]));
    answers = found;
    setImmediate(() => {
      if (answers === found) answers = undefined;
    });
    return found;
  }

  return async (name) => {
    const now = performance.now();
    const key = asked.get(name)?.key ?? lockKey(name);
    asked.set(name, { key, at: now });
    const known = answers?.get(key);
    if (known !== undefined) return known;
    for (const [each, { at }] of asked) if (now - at > REMEMBERED_MILLISECONDS) asked.delete(each);
    return (await look()).get(key) ?? false;
  };
}
