import type { Progress } from "./progress.ts";

/** Resolves once callers can see that a row is carried on: with its first commit, or when it is given back without one. */
export async function firstCommit(progress: Progress, id: string, done: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unwatch = progress.watch(id, () => resolve());
  void done.then(resolve, resolve);
  await promise;
  unwatch();
}
