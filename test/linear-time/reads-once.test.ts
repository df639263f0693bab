// What reads text from outside reads it once: a text of 32 times the length takes about 32 times as many steps, whatever
// it is made of. A reader that goes over it again from every position takes 1,024 times as many, and blocks the process.
import { describe, expect, it } from "vitest";
import * as backendWords from "../../src/backend/sql/words.ts";
import { agentSlug } from "../../src/contracts/agents/agent-slug.ts";
import * as identityScope from "../../src/contracts/agents/identity-scope.ts";
import * as canonicalJson from "../../src/contracts/canonical-json.ts";
import * as bridgeClient from "../../src/contracts/channels/bridge-client.ts";
import { bridgeSlug, foldConnector } from "../../src/contracts/channels/connector-slug.ts";
import * as externalMessage from "../../src/contracts/channels/external-message.ts";
import * as inboundMessage from "../../src/contracts/channels/inbound-message.ts";
import * as webhookSignature from "../../src/contracts/channels/webhook-signature.ts";
import { inputFromParams } from "../../src/contracts/chat/jsonrpc-input.ts";
import { lowered, numeric, stringList, trim, trimEnd } from "../../src/contracts/coerce.ts";
import { cleanId, cleanSlug, cleanWord, titleOf } from "../../src/contracts/context/clean-name.ts";
import { splitForOverflow } from "../../src/contracts/conversation/markdown-overflow.ts";
import * as markdownSections from "../../src/contracts/conversation/markdown-sections.ts";
import { extractToolCalls } from "../../src/contracts/conversation/text-tool-calls.ts";
import * as sse from "../../src/contracts/sse.ts";
import { base64Size, readBase64 } from "../../src/contracts/standard/attachment.ts";
import { threadName } from "../../src/contracts/standard/create-arguments.ts";
import { readPath, routeOfFile } from "../../src/contracts/standard/endpoint-route.ts";
import { attachmentPath, extensionOf, normalizePath } from "../../src/contracts/standard/file-path.ts";
import { isText, typeOfName } from "../../src/contracts/standard/mime-type.ts";
import { isAcceptedName, isStandardName } from "../../src/contracts/standard/names.ts";
import { errorSignature } from "../../src/contracts/standard/repeated-error.ts";
import * as citations from "../../src/contracts/tools/citations.ts";
import { providerSafeName } from "../../src/contracts/tools/declaration.ts";
import * as callerContext from "../../src/contracts/trust/caller-context.ts";
import { normalizeOperation } from "../../src/contracts/trust/consent.ts";
import { claimedOwner } from "../../src/contracts/trust/conversation-owner.ts";
import { instant } from "../../src/contracts/trust/pending-action-store.ts";
import * as token from "../../src/contracts/trust/token.ts";
import * as workspace from "../../src/contracts/workspace.ts";
import { contextText } from "../../src/memory/context-block.ts";
import { readMemoryText, subjectName } from "../../src/memory/memory-text.ts";
import { wordsOf } from "../../src/memory/stored-entries.ts";
import { demoModel } from "../../src/models/demo/demo-model.ts";
import { stemsOf } from "../../src/models/demo/stem.ts";
import { says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { withoutKeys } from "../../src/models/without-keys.ts";
import { readUserMessage } from "../../src/server/ai-sdk/chat-request.ts";
import { createHostCheck } from "../../src/server/hosts.ts";
import { slugOf } from "../../src/threads/mcp/declared-tool.ts";
import { memoryName } from "../../src/threads/memory/memory-name.ts";
import { judge, readOutput } from "../../src/threads/output.ts";
import { countSteps } from "./count-steps.ts";

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

const SHORT = 256;

const TIMES = 32;

/** Between as many times and their square: sorting and a few fixed costs are below it, reading again is above. */
const TOO_MUCH = TIMES ** 1.4;

describe("a hostile text", () => {
  it.each(Object.entries(readers))("takes no more steps than its length to be read: %s", (_name, read) => {
    expect(textsReadAgain(read)).toEqual([]);
  });

  it("that is read again from every position is found", () => {
    expect(growth(loopInLoop, [dashes], 64)).toBeGreaterThanOrEqual(TOO_MUCH);
  });

  it("is found among all the others, and named", () => {
    const read: Read = (text) => (text.startsWith("中中") && text.length < 10_000 ? loopInLoop(text) : text.trim());
    expect(textsReadAgain(read, 64)).toEqual(["中".repeat(40)]);
  });

  const readAgain: Readonly<Record<string, Read>> = {
    "a search": (text) => {
      for (let from = 0; from < text.length; from++) if (text.indexOf("~", from) >= 0) return from;
      return -1;
    },
    "a list that is searched": (text) => {
      const seen: number[] = [];
      for (let at = 0; at < text.length; at++) if (!seen.includes(at)) seen.push(at);
      return seen;
    },
    "an expression": (text) => {
      let rest = text;
      while (rest.length > 0) rest = /~/.test(rest) ? "" : rest.slice(1);
      return rest;
    },
    "a method that takes an expression": (text) => {
      let rest = text;
      while (rest.length > 0) rest = rest.replace(/~/g, "").slice(1);
      return rest;
    },
    "a list that is copied": (text) => {
      let copy: readonly string[] = [];
      for (const character of text) copy = copy.concat(character);
      return copy;
    },
  };

  it.each(Object.entries(readAgain))("that is read again by a built-in in a loop is found: %s", (_name, read) => {
    expect(growth(read, [dashes], 64)).toBeGreaterThanOrEqual(TOO_MUCH);
  });

  it("is counted where the sources themselves walk over it", () => {
    const text = dashes(1_000);
    const [trimmed, nothing] = countSteps(
      () => trim(text, "-"),
      () => undefined,
    );
    expect(trimmed).toBeGreaterThan(text.length);
    expect(nothing).toBeLessThan(10);
  });
});

function dashes(length: number): string {
  return "-".repeat(length);
}

function loopInLoop(text: string): number {
  let pairs = 0;
  for (const left of text) for (const right of text) if (left === right) pairs++;
  return pairs;
}

/** The beginnings of the texts that take too many steps. They are read one by one only when there are any. */
function textsReadAgain(read: Read, short = SHORT): readonly string[] {
  const all = pieces.flatMap((piece) =>
    frames.map(
      (frame): Text =>
        (length) =>
          frame(piece.repeat(Math.ceil(length / piece.length))),
    ),
  );
  // One text that is read again takes more steps than all the others together, so that the sum shows it.
  if (growth(read, all, short) < TOO_MUCH) return [];
  return [oneReadAgain(read, all, short)?.(40) ?? "several texts together"];
}

type Text = (length: number) => string;

/** Halved again and again: half of the texts take as long to count as a single one. */
function oneReadAgain(read: Read, texts: readonly Text[], short: number): Text | undefined {
  if (texts.length === 1) return texts[0];
  const middle = texts.length >> 1;
  const half = [texts.slice(0, middle), texts.slice(middle)].find((part) => growth(read, part, short) >= TOO_MUCH);
  return half && oneReadAgain(read, half, short);
}

/** How many times as many steps the long texts take. */
function growth(read: Read, texts: readonly Text[], short = SHORT): number {
  const [few = 0, many = 0] = countSteps(...[short, short * TIMES].map((length) => readAll(read, texts, length)));
  return many / few;
}

function readAll(read: Read, texts: readonly Text[], length: number): () => void {
  const hostile = texts.map((text) => text(length));
  return () => {
    for (const text of hostile) attempt(read, text);
  };
}

function attempt(read: Read, text: string): void {
  try {
    read(text);
  } catch {
    // A refusal is an answer too.
  }
}
