// Whatever reads words from outside reads them once: a text of sixteen times the length takes about sixteen times as long,
// however it was made up. A pattern that goes over it again from every place takes 256 times as long, and blocks everybody.
import { describe, expect, it } from "vitest";
import * as backendWords from "../src/backend/sql/words.ts";
import { agentSlug } from "../src/contracts/agents/agent-slug.ts";
import * as identityScope from "../src/contracts/agents/identity-scope.ts";
import * as canonicalJson from "../src/contracts/canonical-json.ts";
import * as bridgeClient from "../src/contracts/channels/bridge-client.ts";
import { bridgeSlug, foldConnector } from "../src/contracts/channels/connector-slug.ts";
import * as externalMessage from "../src/contracts/channels/external-message.ts";
import * as inboundMessage from "../src/contracts/channels/inbound-message.ts";
import * as webhookSignature from "../src/contracts/channels/webhook-signature.ts";
import { inputFromParams } from "../src/contracts/chat/jsonrpc-input.ts";
import { lowered, numeric, stringList, trim, trimEnd } from "../src/contracts/coerce.ts";
import { cleanId, cleanSlug, cleanWord, titleOf } from "../src/contracts/context/clean-name.ts";
import { splitForOverflow } from "../src/contracts/conversation/markdown-overflow.ts";
import * as markdownSections from "../src/contracts/conversation/markdown-sections.ts";
import { extractToolCalls } from "../src/contracts/conversation/text-tool-calls.ts";
import * as sse from "../src/contracts/sse.ts";
import { base64Size, readBase64 } from "../src/contracts/standard/attachment.ts";
import { threadName } from "../src/contracts/standard/create-arguments.ts";
import { readPath, routeOfFile } from "../src/contracts/standard/endpoint-route.ts";
import { attachmentPath, extensionOf, normalizePath } from "../src/contracts/standard/file-path.ts";
import { isText, typeOfName } from "../src/contracts/standard/mime-type.ts";
import { isAcceptedName, isStandardName } from "../src/contracts/standard/names.ts";
import { errorSignature } from "../src/contracts/standard/repeated-error.ts";
import * as citations from "../src/contracts/tools/citations.ts";
import { providerSafeName } from "../src/contracts/tools/declaration.ts";
import * as callerContext from "../src/contracts/trust/caller-context.ts";
import { normalizeOperation } from "../src/contracts/trust/consent.ts";
import { claimedOwner } from "../src/contracts/trust/conversation-owner.ts";
import { instant } from "../src/contracts/trust/pending-action-store.ts";
import * as token from "../src/contracts/trust/token.ts";
import * as workspace from "../src/contracts/workspace.ts";
import { contextText } from "../src/memory/context-block.ts";
import { readMemoryText, subjectName } from "../src/memory/memory-text.ts";
import { wordsOf } from "../src/memory/stored-entries.ts";
import { demoModel } from "../src/models/demo/demo-model.ts";
import { stemsOf } from "../src/models/demo/stem.ts";
import { says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { withoutKeys } from "../src/models/without-keys.ts";
import { readUserMessage } from "../src/server/ai-sdk/chat-request.ts";
import { createHostCheck } from "../src/server/hosts.ts";
import { slugOf } from "../src/threads/mcp/declared-tool.ts";
import { memoryName } from "../src/threads/memory/memory-name.ts";
import { judge, readOutput } from "../src/threads/output.ts";

type Read = (text: string) => unknown;

const output = readOutput({ type: "object" });
const hosts = createHostCheck({ hostname: "0.0.0.0" });
const user = {
  schema: "agents-api.message",
  version: 1,
  type: "text",
  role: "user",
  payload: {},
  metadata: {},
} as const;

/** What is read of what comes from outside: from people, models, other programs, headers and addresses. */
const readers: Readonly<Record<string, Read>> = {
  trim: trim,
  "trim of dashes": (text) => trim(text, "-"),
  trimEnd: (text) => trimEnd(text, "/"),
  lowered,
  numeric,
  stringList,
  agentSlug,
  "the scope of an identity": (text) =>
    identityScope.normalize({ agent_slug: text, owner_user_id: 1, instance_key: text }),
  bridgeSlug,
  foldConnector,
  "a message from elsewhere": (text) =>
    externalMessage.normalize({ text, connector_id: text, external_provider: text, sender_id: text }),
  "the key of a message": (text) => inboundMessage.storageKey(text, text),
  "a signature": (text) => webhookSignature.verify("{}", text, "secret", { allow_raw_hex: true }),
  "a callback": (text) => bridgeClient.fromArray({ client_id: "a", callback_url: text }),
  "parameters of JSON-RPC": (text) => inputFromParams({ message: { parts: [{ kind: "text", text }] } }, text),
  cleanId,
  cleanSlug,
  cleanWord,
  titleOf,
  "sections of Markdown": markdownSections.parse,
  "too much Markdown": (text) => splitForOverflow(text, { target_bytes: 1_000, destination: "elsewhere" }),
  "calls in a text": (text) => extractToolCalls({ content: text }),
  "a frame of a stream": sse.frame,
  "sorted JSON": (text) => canonicalJson.sortedText({ [text]: text }),
  base64Size,
  readBase64,
  threadName,
  readPath,
  routeOfFile,
  normalizePath,
  extensionOf,
  "the path of an attachment": (text) => attachmentPath(text, "0"),
  isText,
  typeOfName,
  isStandardName,
  isAcceptedName,
  errorSignature,
  "a citation": (text) => citations.normalize([{ title: text, url: text, [text]: text }]),
  providerSafeName,
  "headers of a caller": (text) => callerContext.fromHeaders({ "X-Agents-Api-Caller-Host": text }),
  "a consent": normalizeOperation,
  "an owner": (text) => claimedOwner({ session_owner: { type: text, key: text } }),
  "a time": instant,
  "the end of a token": (text) => token.isExpired({ expires_at: text }, 0),
  "a workspace": (text) => workspace.read({ workspace_type: text, workspace_id: text }),
  memoryName,
  readMemoryText,
  subjectName,
  "the words of a message": wordsOf,
  "words to index": (text) => backendWords.wordsOf(text),
  "words to find": backendWords.soughtWords,
  "retrieved context": (content) =>
    contextText([
      { source: content, name: content, tier: "agent_memory", updated_at: null, isUnchecked: false, content },
    ]),
  stemsOf,
  "the demo model": (content) => demoModel([{ ...user, content }], {}, { tools: {}, onDelta: () => undefined }),
  "a scripted answer": (content) => scriptedModel([says(content)])([], {}, { tools: {}, onDelta: () => undefined }),
  withoutKeys,
  "the file of a message": (text) =>
    readUserMessage({ id: "1", role: "user", parts: [{ type: "file", url: `data:${text}`, mediaType: "a/b" }] }),
  "a host": (text) => hosts.refusal(text, text),
  "the name of a tool": slugOf,
  "an answer in a form": (text) => output && judge(output, text),
};

/** What a hostile text is made of: one of these again and again. */
const pieces = [
  ...[
    "a",
    "A",
    "0",
    "-",
    "_",
    ".",
    "/",
    " ",
    "\n",
    "\t",
    "'",
    '"',
    "`",
    "<",
    "=",
    "{",
    "[",
    "#",
    ":",
    ";",
    "@",
    "é",
    "中",
  ],
  ...["a-", "/a", "- ", ".a", "a1", "a=", "' ", "//a", "?key=", "Bearer ", "eyJa.", "sk-", ";base64,", "%2f", "+1"],
  ...[
    "\n# a",
    "\n```",
    "```json\n{",
    '{"a":',
    "<a",
    "</a",
    "<invoke ",
    '<invoke name="a">',
    "<tool_call name='a'>",
    "\ta='",
  ],
];

/** Alone, and between what keeps a pattern from ending where the text does. */
const frames: readonly ((body: string) => string)[] = [(body) => body, (body) => `${body}!`, (body) => `a${body}a`];

const LONG = 100_000;

/** How much shorter the other one is; squared, it is how much sooner a text is read that is gone over from every place. */
const TIMES = 16;

/** In the middle between as many times and their square. */
const TOO_MUCH = TIMES ** 1.5;

const WALK = Math.min(...Array.from({ length: 20 }, () => taken(walked, "a".repeat(LONG))));

describe("a hostile text", () => {
  it.each(Object.entries(readers))("takes no more than its length to be read: %s", (_name, read) => {
    const grown = hostile().find((text) => growth(read, text) >= TOO_MUCH);
    expect(grown?.(40)).toBeUndefined();
  });

  it("is told from one that is gone over again from every place in it", () => {
    const badly: Read = (text) => text.replace(/-+$/, "");
    const shorter = LONG / 4;
    expect(growth(badly, (length) => `${"-".repeat(length)}a`, shorter)).toBeGreaterThanOrEqual(TOO_MUCH);
  });
});

function hostile(): readonly ((length: number) => string)[] {
  return pieces.flatMap((piece) =>
    frames.map((frame) => (length: number) => frame(piece.repeat(Math.ceil(length / piece.length)))),
  );
}

/** How many times longer the long text takes. One measurement may be disturbed; the least of several is what counts. */
function growth(read: Read, text: (length: number) => string, length = LONG): number {
  const [short, long] = [text(length / TIMES), text(length)];
  let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; ; round++) {
    [least, most] = [Math.min(least, taken(read, short)), Math.min(most, taken(read, long))];
    // What takes next to no time has no ratio worth telling: a few walks over a text are added to both.
    const ratio = (most + WALK) / (least + WALK);
    if (ratio < TOO_MUCH || round === 2) return ratio;
  }
}

/** Microseconds of the processor: what others do on the machine meanwhile must not count. */
function taken(read: Read, text: string): number {
  const begun = process.threadCpuUsage();
  try {
    read(text);
  } catch {
    // To be refused is an answer too.
  }
  const { user, system } = process.threadCpuUsage(begun);
  return user + system;
}

function walked(text: string): number {
  let sum = 0;
  for (let walk = 0; walk < 5; walk++) for (const letter of text) sum += letter.charCodeAt(0);
  return sum;
}
