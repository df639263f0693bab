// A thread's handle beside those of a runtime, on the same data: it counts who waits and listens there and what is read
// for them, and its text in flight is in the hands of the test.
import type { Host } from "../src/threads/host.ts";
import { createProgress } from "../src/threads/progress.ts";
import { createLiveTexts } from "../src/threads/stream/live-texts.ts";
import { createHandle, type ThreadHandle } from "../src/threads/thread.ts";
import type { World } from "./databases.ts";

/** With `polls` it finds out by itself when something is committed; otherwise the test tells. */
export async function watchedHandle(
  world: World,
  { id, key }: Pick<ThreadHandle, "id" | "key">,
  { polls = true } = {},
) {
  const stores = await world.stores();
  const listening = { watching: 0, listening: 0 };
  let reads = 0;

  function counted<Given extends readonly unknown[]>(
    what: keyof typeof listening,
    begin: (...given: Given) => () => void,
  ) {
    return (...given: Given) => {
      const end = begin(...given);
      listening[what]++;
      return () => {
        listening[what]--;
        end();
      };
    };
  }
  function read<Given extends readonly unknown[], Found>(look: (...given: Given) => Found) {
    return (...given: Given) => {
      reads++;
      return look(...given);
    };
  }
  const { events, messages } = stores.threads;
  const threads = { ...stores.threads, events: read(events), messages: read(messages) };
  const progress = createProgress(stores.threads, { isShared: polls, pollMs: 5 });
  const liveTexts = createLiveTexts(stores.liveText, { isShared: false });
  const host = {
    stores: { ...stores, threads },
    progress: { ...progress, watch: counted("watching", progress.watch) },
    liveTexts: { ...liveTexts, listen: counted("listening", liveTexts.listen) },
    onCrashPoint: async () => undefined,
    // Somebody else runs its agent.
    isShared: true,
  } as unknown as Host;
  return {
    thread: createHandle(host, { id, key, agent: "" }),
    liveTexts,
    tell: () => progress.changed(id),
    listening: () => ({ ...listening }),
    /** How often a reader has looked into the log, or for messages. */
    reads: () => reads,
  };
}
