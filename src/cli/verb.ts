// A verb of the command line: what it is called, what it takes, and what it does with a client of the runtime.
import type { Client } from "./client.ts";
import type { ServerDoor } from "./http-client.ts";
import type { LocalOptions } from "./local-client.ts";
import type { OpenedProject, ProjectOptions } from "./project.ts";
import type { Terminal } from "./terminal.ts";

/** What a verb is run with. */
export type Work = {
  /** Positional arguments and options by their names; a variadic argument is a list. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly terminal: Terminal;
  /** Connects when it is asked for the first time: to the server beside the database, or to the database itself. */
  client(options?: Partial<LocalOptions>): Promise<Client>;
  /** The server that is named or runs beside the database, for verbs that speak with it in another way. */
  door(): Promise<ServerDoor | undefined>;
  /** The project that is worked on, for verbs that run it themselves. */
  project(): Promise<OpenedProject>;
  /** Where that project is, for verbs that let another process run it. */
  readonly projectOptions: Pick<ProjectOptions, "config" | "data">;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  /** Fires on the first interrupt; a second one ends the process. */
  readonly signal: AbortSignal;
};

export type Verb = {
  /** Noun and verb, such as `threads list`; or one word. */
  readonly name: string;
  readonly summary: string;
  /** As they are written in help: `<thread>`, `[message...]`, with what each is. */
  readonly takes?: Readonly<Record<string, string>>;
  /** As they are written in help: `--limit <number>`. A default is told in the words. */
  readonly options?: Readonly<Record<string, string>>;
  /** All that an option or an argument may be, by its name in `given`; shells offer them, and nothing else gets to `run`. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Lines under "Examples:". */
  readonly examples?: readonly string[];
  run(work: Work): Promise<void>;
};
