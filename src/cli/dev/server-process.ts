// A process that serves a project, as the one sees it that has started it.
import { fork } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { isMap } from "../../contracts/json.ts";
import type {
  DevTask,
  FromServer,
  LoadedMessage,
  RefusedMessage,
  ReloadedMessage,
  ServingMessage,
  ToServer,
} from "./messages.ts";

export type EndedServer = { readonly type: "ended"; readonly exitCode: number; readonly how: string };

/** One that ended without a word is refused too, with what it ended with. */
export type RefusedServer = RefusedMessage & { readonly exitCode?: number };

export interface ServerProcess {
  readonly startedAt: number;
  /** Once the project is loaded, or is not to be. Nothing is opened yet. */
  readonly loaded: Promise<LoadedMessage | RefusedServer>;
  readonly ended: Promise<EndedServer>;
  serve(): Promise<ServingMessage | RefusedServer>;
  /** One that serves reads its gateway's configuration again. */
  reload(): Promise<ReloadedMessage | RefusedServer>;
  /** In good order: what is under way comes to a commit. */
  end(patienceMs?: number): Promise<EndedServer>;
  kill(): void;
}

// The name of the other file is not rewritten by the build, so it is the ending of this one that tells which there is.
const source = fileURLToPath(new URL("./main.ts", import.meta.url));
const main = import.meta.url.endsWith(".ts") ? source : source.replace(/ts$/, "js");

export function startServer(task: DevTask, { tries }: { readonly tries: boolean }): ServerProcess {
  const startedAt = Date.now();
  const child = fork(main, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = new Promise<EndedServer>((resolve) => {
    child.once("error", ({ message }) => resolve({ type: "ended", exitCode: 1, how: message }));
    // Later than the exit: by then everything that it has said is heard.
    child.once("close", (code, signal) =>
      resolve(
        signal === null
          ? { type: "ended", exitCode: code ?? 1, how: `with exit code ${code}` }
          : { type: "ended", exitCode: 128 + constants.signals[signal], how: `by ${signal}` },
      ),
    );
  });

  async function ask<Answer extends FromServer>(message: ToServer): Promise<Answer | RefusedServer> {
    const answer = new Promise<Answer>((resolve) =>
      child.on("message", (told) => {
        if (isAnswer(told)) resolve(told as Answer);
      }),
    );
    tell(message);
    const answered = await Promise.race([answer, ended.then(withoutAWord)]);
    child.removeAllListeners("message");
    return answered;
  }

  /** One that has just ended cannot be told anything; that it has ended is told elsewhere. */
  function tell(message: ToServer): void {
    if (child.connected) child.send(message, () => undefined);
  }

  return {
    startedAt,
    ended,
    loaded: ask<LoadedMessage>({ type: "load", task, tries }),
    serve: () => ask<ServingMessage>({ type: "serve" }),
    reload: () => ask<ReloadedMessage>({ type: "reload" }),
    async end(patienceMs) {
      tell({ type: "end" });
      const timer = patienceMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), patienceMs);
      const how = await ended;
      clearTimeout(timer);
      return how;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** The project may have something to say to whoever started it too, such as that it is ready. */
function isAnswer(told: unknown): boolean {
  return isMap(told) && answers.has(told.type);
}

const answers: ReadonlySet<unknown> = new Set<FromServer["type"]>(["loaded", "refused", "serving", "reloaded"]);

function withoutAWord({ exitCode, how }: EndedServer): RefusedServer {
  return { type: "refused", files: [], code: "server_ended", message: `The server ended ${how}.`, exitCode };
}
