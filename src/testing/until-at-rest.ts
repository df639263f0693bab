// Waits until threads that may wake each other have nothing left to do.
import type { Holdfast } from "../holdfast.ts";
import type { ThreadHandle } from "../threads/thread.ts";

/** Every thread of the database. */
export async function untilAllAtRest(holdfast: Holdfast): Promise<void> {
  await untilAtRest(() => allThreads(holdfast));
}

/** A thread, its children, theirs and so on. */
export async function untilFamilyAtRest(holdfast: Holdfast, thread: ThreadHandle): Promise<void> {
  await untilAtRest(() => family(holdfast, thread));
}

/**
 * One that was at rest may have been woken by another that came to rest later. So it is over only when all of them were
 * found at rest and none has committed anything meanwhile: whatever one thread leaves for another is part of a commit.
 */
async function untilAtRest(list: () => Promise<readonly ThreadHandle[]>): Promise<void> {
  for (let before: string | undefined; ; ) {
    const threads = await list();
    for (const thread of threads) await thread.wait();
    const commits = await Promise.all(threads.map(async ({ status }) => (await status()).next_seq));
    const after = threads.map(({ id }, index) => `${id} ${commits[index]}`).join();
    if (after === before) return;
    before = after;
  }
}

async function allThreads(holdfast: Holdfast): Promise<readonly ThreadHandle[]> {
  const found: ThreadHandle[] = [];
  for (let after: string | undefined; ; ) {
    const page = await holdfast.threads.list({ limit: 100, ...(after !== undefined && { after }) });
    for (const { id } of page) found.push(await holdfast.threads.get(id));
    after = page.at(-1)?.id;
    if (after === undefined) return found;
  }
}

async function family(holdfast: Holdfast, thread: ThreadHandle): Promise<readonly ThreadHandle[]> {
  const found = [thread];
  for (const { reference } of await thread.children()) {
    found.push(...(await family(holdfast, await holdfast.threads.get(reference))));
  }
  return found;
}
