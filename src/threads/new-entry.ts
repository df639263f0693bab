// Entries for a thread's inbox, ready to be stored.
import type { EntryKind, NewEntry } from "../backend/inbox.ts";
import { stableHash } from "../contracts/canonical-json.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { holdfastError } from "../contracts/error.ts";
import { isContainer, type Json, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import * as principals from "../contracts/trust/principal.ts";
import { safeMetadata } from "../contracts/trust/safe-principal.ts";
import { checkName, checkText } from "./check-arguments.ts";
import { isWorkKind } from "./entries.ts";
import { refuseOurs } from "./refuse-ours.ts";
import type { Sealing } from "./secrets/sealing.ts";
import { traceParentNow } from "./telemetry/trace-parent.ts";
import type { MessageInput } from "./tool.ts";

type Written = {
  readonly kind: EntryKind;
  readonly operation: string;
  /** Or what makes it of the entry's id. */
  readonly body: JsonMap | ((id: string) => JsonMap);
  /** What a repeat under the same key must be equal to. */
  readonly payload: Json;
  readonly key: string | undefined;
  readonly wakesStopped?: boolean;
  readonly urgent?: boolean;
};

function entry({ kind, operation, body, payload, key, wakesStopped = false, urgent = false }: Written): NewEntry {
  const id = crypto.randomUUID();
  if (key !== undefined) checkName("key", key);
  return {
    id,
    kind,
    body: JSON.stringify({ ...(typeof body === "function" ? body(id) : body), ...traceOf(kind, wakesStopped) }),
    operation,
    idempotency_key: key ?? id,
    payload_hash: stableHash(payload),
    wakes_stopped: wakesStopped,
    urgent,
  };
}

/** What begins a run says where in a trace it was left. That is no part of what a repeat must be equal to. */
function traceOf(kind: EntryKind, isAddressed: boolean): { readonly trace?: string } {
  const place = isWorkKind({ kind }) ? traceParentNow(isAddressed) : undefined;
  return place === undefined ? {} : { trace: place };
}

/** A little less than a value may be nested: it stands deeper where it is stored than where it was made. */
const DEEPEST = 480;

/** The value, unless it is nested too deep to be read again; then it throws `not_json`. */
function shallow<Value extends Json>(value: Value): Value {
  for (let level: Json[] = [value], depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw holdfastError("not_json", "The value cannot be stored: it is nested too deep.");
    level = level.flatMap((item) => (isContainer(item) ? Object.values<Json>(item) : []));
  }
  return value;
}

/** A message as somebody wrote it: text alone is a user's. Throws what a message that is none throws. */
export function readMessage(content: string | MessageInput): Message {
  return shallow(readEnvelope(content));
}

/** A message that somebody brings to a thread: anything but what only the runtime writes. */
function readSpoken(content: string | MessageInput): Message {
  const spoken = readMessage(content);
  refuseOurs(spoken);
  return spoken;
}

function readEnvelope(content: string | MessageInput): Message {
  return typeof content === "string" ? message.text("user", content) : message.normalize({ role: "user", ...content });
}

/** A message has the id of the entry that brings it: whoever left it finds it among the others. */
function withId(left: Message, resumes: boolean, more: JsonMap = {}): (id: string) => JsonMap {
  return (id) => ({ message: { ...left, id }, resumes, ...more });
}

/** Models are shown it, and lists are not. */
function silenced(given: Message, silent: boolean): Message {
  return silent ? message.normalize({ ...given, metadata: { ...given.metadata, silent } }) : given;
}

/** The id of the call that an entry brings which queues a tool. */
export function queuedCallId(entryId: string): string {
  return `queued-${entryId}`;
}

type Key = { readonly key?: string | undefined };
/** Who leaves it. That is no part of what a repeat must be equal to. */
type Named = { readonly principal?: UnknownMap | undefined };
/** What was asked for, where that comes to something else at another time. */
type Given = { readonly given?: Json };
type Silence = { readonly silent?: boolean | undefined };

/** As much of it as may be shown. Throws what a principal that is none throws. */
function byWhom(principal: UnknownMap | undefined): { readonly by?: JsonMap } {
  return principal === undefined ? {} : { by: safeMetadata(principals.fromArray(principal)) };
}

export const createEntry = {
  /** A user speaks: that also lets a stopped thread go on. */
  message(content: string | MessageInput, { key, silent = false }: Key & Silence): NewEntry {
    const sent = silenced(readSpoken(content), silent);
    const resumes = sent.role === "user";
    return entry({
      kind: "message",
      operation: "send",
      body: withId(sent, resumes),
      payload: sent,
      key,
      wakesStopped: resumes,
    });
  },

  queuedMessage(content: string | MessageInput, { key, silent = false }: Key & Silence): NewEntry {
    const queued = silenced(readSpoken(content), silent);
    return entry({
      kind: "message",
      operation: "queue",
      body: withId(queued, false),
      payload: queued,
      key,
    });
  },

  /** What a parent says to its child, which lets a stopped one go on. `requestId`: what the parent waits on meanwhile. */
  fromParent(content: MessageInput, requestId: string | null): NewEntry {
    const said = readMessage(content);
    const body = withId(said, true, requestId === null ? {} : { request_id: requestId });
    return entry({ kind: "message", operation: "queue", body, payload: said, key: undefined, wakesStopped: true });
  },

  /** A message that joins the history and starts nothing. */
  injected(content: string | MessageInput, { key }: Key): NewEntry {
    const given = readSpoken(content);
    const body = (id: string) => ({ message: { ...given, id } });
    return entry({ kind: "inject", operation: "inject", body, payload: given, key, wakesStopped: true });
  },

  born(): NewEntry {
    return entry({ kind: "born", operation: "born", body: {}, payload: {}, key: "born", wakesStopped: true });
  },

  /** Its parameters may hold secrets, so they are sealed until the tool runs. */
  queuedTool(
    name: string,
    given: JsonMap,
    { key, sealing, threadId }: Key & { readonly sealing: Sealing; readonly threadId: string },
  ): NewEntry {
    checkName("name", name);
    const parameters = shallow(snapshotMap(given));
    const payload = { name, parameters: sealing.bind(parameters, name) };
    // The call has an id that follows from the entry's: whoever queued it finds it among the calls.
    const body = (id: string) => ({
      sealed: sealing.seal(JSON.stringify({ id: queuedCallId(id), name, parameters }), threadId),
    });
    return entry({ kind: "tool", operation: "queue_tool", body, payload, key });
  },

  continue({ key }: Key): NewEntry {
    return entry({ kind: "continue", operation: "continue", body: {}, payload: {}, key, wakesStopped: true });
  },

  stop(reason: string, { key }: Key = {}): NewEntry {
    checkText("reason", reason);
    return entry({
      kind: "stop",
      operation: "stop",
      body: { reason },
      payload: { reason },
      key,
      wakesStopped: true,
      urgent: true,
    });
  },

  edit(seq: number, edited: Message, { key, given = edited }: Key & Given): NewEntry {
    const body = { seq, message: edited };
    return entry({ kind: "edit", operation: "edit", body, payload: { seq, given }, key, wakesStopped: true });
  },

  deletion(seq: number, { key }: Key): NewEntry {
    return entry({ kind: "deletion", operation: "delete", body: { seq }, payload: { seq }, key, wakesStopped: true });
  },

  erasure(
    which: { seq: number } | { before: number },
    { key, principal, given = which }: Key & Named & Given,
  ): NewEntry {
    const body = { ...which, ...byWhom(principal) };
    return entry({ kind: "erasure", operation: "erase", body, payload: given, key, wakesStopped: true });
  },

  settlement(run: number, number: number, result: Json, { key, principal }: Key & Named): NewEntry {
    const payload = { run, number, result };
    const body = { ...payload, ...byWhom(principal) };
    return entry({ kind: "settlement", operation: "settle_call", body, payload, key, wakesStopped: true });
  },
};
