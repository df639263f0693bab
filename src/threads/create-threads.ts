// Threads as the runtime offers them: open, find, list, delete, and what operators do about those that do not go on.
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { isName } from "../contracts/storable-name.ts";
import { checkName, checkNumber, checkQuery } from "./check-arguments.ts";
import { diagnoseThread } from "./diagnose.ts";
import type { Host } from "./host.ts";
import { pruneFiles, prunePage, pruneThreads } from "./housekeeping.ts";
import { openThread } from "./open-thread.ts";
import type { Runtime } from "./runtime.ts";
import { subjectOfRun } from "./subject-of-run.ts";
import { createHandle } from "./thread.ts";
import { threadNotFound } from "./thread-errors.ts";
import { viewThread } from "./thread-view.ts";

export function createThreads(host: Host): Runtime["threads"] {
  const { stores, progress, onCrashPoint } = host;
  const { threads } = stores;
  return {
    async open(threadKey, given) {
      return createHandle(host, await openThread(host, threadKey, given));
    },
    async find(threadKey) {
      const thread = isName(threadKey) ? await threads.byKey(threadKey) : undefined;
      return thread && createHandle(host, thread);
    },
    async get(id) {
      const thread = isName(id) ? await threads.get(id) : undefined;
      if (!thread) throw threadNotFound(id);
      return createHandle(host, thread);
    },
    async list(query = {}) {
      checkQuery(query);
      return await threads.list(query);
    },
    async delete(id) {
      await onCrashPoint("before delete");
      const isThere = isName(id) && (await threads.get(id)) !== undefined;
      const deleted = isThere ? await threads.delete(id) : [];
      await onCrashPoint("after delete");
      if (deleted.length === 0) throw threadNotFound(id);
      for (const each of deleted) progress.changed(each, true);
      return deleted;
    },
    async prune(given) {
      const { idleMs, dryRun = false } = isMap(given) ? given : { idleMs: Number.NaN };
      checkNumber("idleMs", idleMs);
      return await pruneThreads(host, idleMs, { dryRun });
    },
    async prunePage(page) {
      checkNumber("idleMs", page.idleMs);
      return await prunePage(host, page);
    },
    pruneFiles: ({ dryRun = false } = {}) => pruneFiles(host, { dryRun }),
    view: (id) => viewThread(host, id),
    subject: async (id) => (await viewThread(host, id)).subject,
    subjectOfRun: (id) => subjectOfRun(host, id),
    async retry(id) {
      checkName("id", id);
      if (!(await threads.get(id))) throw threadNotFound(id);
      if (await stores.engine.retry(id)) return;
      throw holdfastError("thread_not_stuck", `Thread "${id}" is not stuck.`);
    },
    diagnose: (id) => diagnoseThread(host, id),
  };
}
