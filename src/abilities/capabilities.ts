// What an ability asks of whoever calls it. Every ceiling on the way (of the token, its client, the request) has to let
// the capability pass; those that reach beyond what is the caller's own also have to be held by the user behind it.

/** `own`: everybody has it, for what is theirs. `held`: the host, or being an administrator, gives it to a user. */
const catalogue = {
  chat: { has: "own", lets: "talk with agents that the caller was granted" },
  "threads.read": { has: "own", lets: "list and read the caller's threads, and follow them" },
  "threads.write": { has: "own", lets: "open, send to, stop, continue, edit, fork and delete the caller's threads" },
  "files.read": { has: "own", lets: "list and read files of the caller's threads" },
  "files.write": { has: "own", lets: "write and delete files of the caller's threads" },
  "requests.answer": { has: "own", lets: "answer what the caller's threads wait for" },
  "approvals.decide": {
    has: "own",
    lets: "decide what a rule lets the caller decide, or what its own threads propose",
  },
  "sessions.read": { has: "own", lets: "list and read the caller's sessions" },
  "sessions.write": { has: "own", lets: "begin, name and delete the caller's sessions" },
  "memory.read": { has: "own", lets: "read what is remembered about the caller" },
  "memory.write": { has: "own", lets: "write and erase what is remembered about the caller" },
  "workflows.read": { has: "own", lets: "list workflows, and see the caller's runs of them, redacted" },
  "agents.read": { has: "own", lets: "list the agents that the caller may use" },
  "channels.send": { has: "held", lets: "send messages out through a channel" },
  "bridge.use": { has: "held", lets: "register as a bridge, poll for and acknowledge what agents have to say" },
  "threads.manage": {
    has: "held",
    lets: "reach everybody's threads, sessions, requests and approvals where the caller is",
  },
  "memory.manage": { has: "held", lets: "reach what is remembered about everybody" },
  "workflows.run": { has: "held", lets: "start runs of workflows, see the caller's own whole, and act on them" },
  "workflows.manage": {
    has: "held",
    lets: "reach everybody's runs where the caller is, and run workflows that come along",
  },
  "tokens.manage": { has: "held", lets: "create, list and revoke tokens and grants" },
  "audit.read": {
    has: "held",
    lets: "sign, export and verify the audit, with everything that was said in all threads",
  },
  "gateway.read": { has: "held", lets: "list the plugins and pipelines of the gateway" },
  "gateway.invoke": { has: "held", lets: "call plugin commands that only read" },
  "gateway.run": {
    has: "held",
    lets: "call every plugin command, emit events, start pipelines and agent runs, cancel",
  },
  "gateway.jobs": { has: "held", lets: "see the jobs, agent runs and schedules of the gateway" },
  "gateway.results": { has: "held", lets: "read payloads, results, errors and traces of jobs" },
  "gateway.events": { has: "held", lets: "follow the events of the gateway" },
  "gateway.config": { has: "held", lets: "read the configuration of the gateway, without its secrets" },
  "gateway.manage": { has: "held", lets: "reload, pause and resume the gateway, its schedules and circuit breakers" },
  operate: {
    has: "held",
    lets:
      "see metrics, say what calls of unknown outcome did in the place of what the model was told, retry stuck threads, " +
      "switch tools and agents off; with threads.manage, delete threads and files that nobody uses",
  },
} as const satisfies Record<string, { readonly has: "own" | "held"; readonly lets: string }>;

export type Capability = keyof typeof catalogue;

export const capabilities: Readonly<Record<Capability, { readonly has: "own" | "held"; readonly lets: string }>> =
  catalogue;
