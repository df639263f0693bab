// Serves a project in a process of its own, and puts another one in its place when a file of the project changes: modules
// cannot be unloaded, and threads outlive their process anyway. The new one loads while the old one serves, so that a
// project with a mistake in it replaces nothing.
import { ENDS } from "../ends.ts";
import { Refusal } from "../refusal.ts";
import { shortPath } from "../short-path.ts";
import type { Terminal } from "../terminal.ts";
import { type Hangups, listenForHangups } from "./hangups.ts";
import type { DevTask, LoadedMessage, ServingMessage } from "./messages.ts";
import { type EndedServer, type RefusedServer, type ServerProcess, startServer } from "./server-process.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

export type ReloadOptions = {
  readonly terminal: Terminal;
  /** Fires when the person wants the end of it. */
  readonly signal: AbortSignal;
  onFirst(serving: ServingMessage): void;
};

/** Longer than an end in good order takes, for requests and then for steps; what hangs even then is killed. */
const PATIENCE_MS = 25_000;

/** Until the signal fires or the server ends by itself. Throws what keeps it from serving at all. */
export async function serveAndReload(task: DevTask, { terminal, signal, onFirst }: ReloadOptions): Promise<void> {
  const interrupted = untilInterrupted(signal);
  const watch = watchFiles(terminal.note);
  const hangups = listenForHangups();
  try {
    const first = await begin(task, interrupted);
    if (first === undefined) return;
    onFirst(first.serving);
    watch.only(first.loaded.files, first.server.startedAt);
    const ended = await keepServing(first, { task: pinned(task, first), watch, hangups, interrupted, terminal });
    if (ended !== undefined && ended.exitCode !== 0) throw refusalOf(ended);
  } finally {
    watch.close();
    hangups.close();
  }
}

type Begun = { readonly server: ServerProcess; readonly loaded: LoadedMessage; readonly serving: ServingMessage };

type Interrupted = { readonly type: "interrupted" };

/** Undefined when it was interrupted before it served. */
async function begin(task: DevTask, interrupted: Promise<Interrupted>): Promise<Begun | undefined> {
  const server = startServer(task, { tries: false });
  const loaded = await Promise.race([interrupted, server.loaded]);
  const serving = loaded.type === "loaded" ? await Promise.race([interrupted, server.serve()]) : loaded;
  if (loaded.type === "loaded" && serving.type === "serving") return { server, loaded, serving };
  server.kill();
  if (serving.type === "refused") throw refusalOf(serving);
  return undefined;
}

/** What comes later is of the same file, though another one may be found by then, and on the same port. */
function pinned(task: DevTask, { loaded: { config }, serving: { url } }: Begun): DevTask {
  const port = Number(new URL(url).port);
  return { ...task, ...(config !== undefined && { config }), listening: { ...task.listening, port } };
}

type Keeping = {
  readonly task: DevTask;
  readonly watch: FileWatch;
  readonly hangups: Hangups;
  readonly interrupted: Promise<Interrupted>;
  readonly terminal: Terminal;
};

/** Without a server when what was to replace it could not. */
type Current = { readonly server: ServerProcess | undefined; readonly files: readonly string[] };

/** How the last server ended; undefined when none was left to end. */
async function keepServing(first: Begun, keeping: Keeping): Promise<EndedServer | undefined> {
  const { watch, hangups, interrupted, terminal } = keeping;
  let current: Current = { server: first.server, files: first.loaded.files };
  for (;;) {
    const happened = await Promise.race([interrupted, endOf(current), watch.changed(), hangups.next()]);
    switch (happened.type) {
      case "ended":
        return happened;
      case "interrupted":
        terminal.note(ENDS);
        return await current.server?.end();
      case "hung_up":
        if (happened.isTerminalGone) return await current.server?.end();
        hangups.take();
        await reload(current, keeping);
        break;
      case "changed":
        current = await replace(current, keeping);
    }
  }
}

async function reload(current: Current, { interrupted, terminal }: Keeping): Promise<void> {
  const reloaded = current.server && (await Promise.race([interrupted, current.server.reload()]));
  if (reloaded?.type === "reloaded") terminal.note(reloaded.text);
}

async function replace(current: Current, { task, watch, interrupted, terminal }: Keeping): Promise<Current> {
  const changed = shortPath(process.cwd(), watch.take());
  const next = startServer(task, { tries: true });
  const loaded = await Promise.race([interrupted, endOf(current), watch.changed(), next.loaded]);
  if (loaded.type === "refused") {
    const files = [...new Set([...current.files, ...loaded.files])];
    watch.only(files, next.startedAt);
    terminal.refuse(refusalOf(loaded));
    terminal.note(current.server ? "Until it is mended, what was there before is served." : NOTHING_SERVED);
    return { ...current, files };
  }
  if (loaded.type !== "loaded") {
    // Whoever asked for this one sees the same, and knows what to do.
    next.kill();
    return current;
  }
  const { files } = loaded;
  watch.only(files, next.startedAt);
  terminal.note(`${changed} has changed: what is under way comes to a commit first.`);
  await current.server?.end(PATIENCE_MS);
  const serving = await Promise.race([interrupted, next.serve()]);
  if (serving.type === "serving") {
    terminal.note(`Served anew. Agents: ${serving.agents.join(", ")}`);
    return { server: next, files };
  }
  next.kill();
  if (serving.type === "refused") {
    terminal.refuse(refusalOf(serving));
    terminal.note(NOTHING_SERVED);
  }
  return { server: undefined, files };
}

const NOTHING_SERVED = "Nothing is served until a file of the project is saved again.";

/** Never, where there is none. */
function endOf({ server }: Current): Promise<EndedServer> {
  return server?.ended ?? new Promise(() => undefined);
}

function untilInterrupted(signal: AbortSignal): Promise<Interrupted> {
  return new Promise((resolve) => {
    const interrupt = () => resolve({ type: "interrupted" });
    if (signal.aborted) interrupt();
    else signal.addEventListener("abort", interrupt, { once: true });
  });
}

function refusalOf(refused: RefusedServer | EndedServer): Refusal {
  if (refused.type === "refused") return new Refusal(refused, refused.hint);
  const { exitCode, how } = refused;
  return new Refusal({ code: "server_ended", message: `The server ended ${how}.`, exitCode });
}
