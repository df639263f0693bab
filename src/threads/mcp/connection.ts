// The connection to one MCP server: made when it is needed, made again when it is lost, and with it what the server says
// that its tools are.
import { setTimeout as pause } from "node:timers/promises";
import { type CallToolResult, Client, type PriorDiscovery } from "@modelcontextprotocol/client";
import { errorMessage, type HoldfastError, holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import { type DeclaredTool, declaredTool } from "./declared-tool.ts";
import { fateOf } from "./fate.ts";
import type { McpSource } from "./mcp-options.ts";
import { KEY_IN_META, type OpenTransport, openTransport } from "./transport.ts";

/** How often a server is tried, and how long to wait after the first time; doubled each time. */
const ATTEMPTS = 5;
const BACKOFF_MS = 200;

/** A program that does not know the question stays silent, and is asked the old way. */
const PROBE_MS = 5_000;

/** A server that tells nobody when its tools change is asked now and then. */
const LISTED_FOR_MS = 60_000;

/** Whoever calls has a time of its own. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The answer to a call was cut off. */
class ConnectionLost extends Error {}

export type Connected = {
  /** What the server declares under its name, if it does. */
  declared(name: string): DeclaredTool | undefined;
  readonly declarations: readonly DeclaredTool[];
  /** Throws what became of the call instead of an answer. */
  call(tool: DeclaredTool, input: JsonMap, about: { key: string; signal: AbortSignal }): Promise<CallToolResult>;
};

export class Connection {
  readonly #source: McpSource;
  readonly #secrets: KnownSecrets;
  readonly #closing = new AbortController();
  #open: Open | undefined;
  #opening: Promise<Open> | undefined;
  /** How the server was spoken to last: it need not be asked again. */
  #prior: PriorDiscovery | undefined;

  constructor(source: McpSource, secrets: KnownSecrets) {
    this.#source = source;
    this.#secrets = secrets;
  }

  /** Connected, with the tools as they are declared now. Throws `mcp_unreachable` after some attempts. */
  async ready(signal?: AbortSignal): Promise<Connected> {
    if (this.#open && !this.#open.isStale) return this.#open;
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined;
    });
    const opening = this.#opening;
    if (!signal) return await opening;
    return await Promise.race([opening, aborted(signal)]);
  }

  /** Has the next one who asks connect anew. What others still wait for on it may come. */
  drop(connected: Connected): void {
    if (this.#open !== connected) return;
    this.#open.retire();
    this.#open = undefined;
  }

  /** Ends the server if it was started for this. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => undefined);
    await this.#open?.client.close().catch(() => undefined);
    this.#open = undefined;
  }

  async #reopen(): Promise<Open> {
    if (this.#open) {
      try {
        await this.#open.refresh();
        return this.#open;
      } catch {
        if (this.#open) this.drop(this.#open);
      }
    }
    for (let attempt = 1; ; attempt++) {
      if (this.#closing.signal.aborted) throw this.#unreachable("it was closed");
      try {
        return await this.#connect();
      } catch (thrown) {
        this.#prior = undefined;
        if (attempt >= ATTEMPTS || isInVain(thrown)) throw this.#unreachable(errorMessage(thrown));
        await pause(BACKOFF_MS * 2 ** (attempt - 1), undefined, this.#closing).catch(() => undefined);
      }
    }
  }

  async #connect(): Promise<Open> {
    const { address, connectTimeoutMs: timeout } = this.#source;
    const transport = openTransport(address);
    const client: Client = new Client(
      { name: "holdfast", version: "1" },
      {
        versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, timeout) } },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => open.outdate() } },
      },
    );
    const open = new Open(client, transport, timeout);
    client.onclose = () => {
      transport.forget();
      if (this.#open === open) this.#open = undefined;
    };
    try {
      await client.connect(transport.transport, { timeout, ...(this.#prior && { prior: this.#prior }) });
      await open.refresh();
    } catch (thrown) {
      await client.close().catch(() => undefined);
      transport.forget();
      const words = transport.words();
      throw words === "" ? thrown : new Error(`${errorMessage(thrown)}; it said: ${words}`, { cause: thrown });
    }
    // Nobody would tell us any more that something has changed.
    void client.autoOpenedSubscription?.closed.then(() => this.drop(open));
    const discover = client.getDiscoverResult();
    this.#prior = discover ? { kind: "modern", discover } : { kind: "legacy" };
    this.#open = open;
    return open;
  }

  #unreachable(why: string): HoldfastError {
    const { name } = this.#source;
    return holdfastError("mcp_unreachable", this.#secrets.clean(`The MCP server "${name}" cannot be reached: ${why}`));
  }
}

class Open implements Connected {
  readonly client: Client;
  readonly #transport: OpenTransport;
  readonly #timeout: number;
  #listed: ReadonlyMap<string, DeclaredTool> = new Map();
  #isOutdated = false;
  #listedAt = 0;
  #calls = 0;
  #isRetired = false;

  constructor(client: Client, transport: OpenTransport, timeout: number) {
    this.client = client;
    this.#transport = transport;
    this.#timeout = timeout;
  }

  get isStale(): boolean {
    return this.#isOutdated || performance.now() - this.#listedAt > LISTED_FOR_MS;
  }

  get declarations(): readonly DeclaredTool[] {
    return [...this.#listed.values()];
  }

  /** The server says that its tools have changed. */
  outdate(): void {
    this.#isOutdated = true;
  }

  async refresh(): Promise<void> {
    // What changes while it is listed makes it outdated again.
    this.#isOutdated = false;
    const { tools } = await this.client.listTools(undefined, { timeout: this.#timeout, cacheMode: "refresh" });
    this.#listed = new Map(tools.map((tool) => [tool.name, declaredTool(tool)]));
    this.#listedAt = performance.now();
  }

  /** Closes once nobody waits for an answer any more. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls === 0) void this.client.close().catch(() => undefined);
  }

  declared(name: string): DeclaredTool | undefined {
    return this.#listed.get(name);
  }

  async call(tool: DeclaredTool, input: JsonMap, about: { key: string; signal: AbortSignal }): Promise<CallToolResult> {
    const { name, inputSchema } = tool;
    this.#calls++;
    const cut = new AbortController();
    const lost = Promise.withResolvers<never>();
    const endWatch = this.#transport.watch(about.key, () => {
      lost.reject(new ConnectionLost("The connection was lost before the answer came."));
    });
    const calling = this.client.callTool(
      { name, arguments: { ...input }, _meta: { [KEY_IN_META]: about.key } },
      {
        signal: AbortSignal.any([about.signal, cut.signal]),
        timeout: NO_TIMEOUT_MS,
        // What comes back is checked by us, and only against what was allowed.
        toolDefinition: { name, inputSchema: inputSchema as { type: "object" } },
      },
    );
    try {
      return await Promise.race([calling, lost.promise]);
    } finally {
      endWatch();
      calling.catch(() => undefined);
      cut.abort();
      this.#calls--;
      if (this.#isRetired) this.retire();
    }
  }
}

/** Another attempt would come to the same: there is no such program, or we are not let in. */
function isInVain(thrown: unknown): boolean {
  const { code } = thrown as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "EACCES" || fateOf(thrown) === "refused";
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(signal.reason);
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
}
