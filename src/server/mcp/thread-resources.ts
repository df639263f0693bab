// Threads as resources: the list of those within the caller's reach, and each with its transcript.
import {
  type ListResourcesResult,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { Desk } from "../../abilities/desk.ts";
import { isOperationError, type OperationError } from "../../contracts/operation-error.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import { refusalError } from "./refusal-error.ts";

const THREADS = "holdfast://threads";
const JSON_TYPE = "application/json";
const PAGE = 100;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: `${THREADS}/{id}{?after}`,
    name: "thread",
    title: "A thread with its transcript",
    description: "How a thread stands and its messages, oldest first; after is the number of the last message seen.",
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: `${THREADS}{?after}`,
    name: "threads",
    title: "The caller's threads",
    description:
      "In the order of their creation; after is what next told of the page before, or the id of the last thread seen.",
    mimeType: JSON_TYPE,
  },
];

type Page = { readonly threads: readonly ShownThread[]; readonly has_more: boolean; readonly next?: string };
type ShownThread = {
  readonly id: string;
  readonly agent: string;
  readonly status: string;
  readonly updated_at: string;
};

/** The list itself, and then every thread; `cursor` is the place of the last one that was listed. */
export async function listResources(desk: Desk, principal: Principal, cursor?: string): Promise<ListResourcesResult> {
  const page = await threadsAfter(desk, principal, cursor);
  return {
    resources: [...(cursor === undefined ? [listResource] : []), ...page.threads.map(threadResource)],
    ...(page.next !== undefined && { nextCursor: page.next }),
  };
}

/** Throws what the protocol calls a resource that is not there for one beyond the caller's reach, as for one that is none. */
export async function readResource(desk: Desk, principal: Principal, uri: string): Promise<ReadResourceResult> {
  const { id, after } = readUri(uri);
  const value = id === undefined ? await threadsAfter(desk, principal, after) : await transcript(id, after);
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value, null, 2) }] };

  async function transcript(thread_id: string, seen: string | undefined) {
    const asked = { principal, door: "mcp" } as const;
    const thread = answered(await desk.call("holdfast/get-thread", { thread_id }, asked), uri);
    const page = { thread_id, limit: PAGE, ...(seen !== undefined && { after: seen }) };
    const messages = answered(await desk.call("holdfast/list-messages", page, asked), uri);
    return { thread, ...(messages as object) };
  }
}

const listResource: Resource = {
  uri: THREADS,
  name: "threads",
  title: "Your threads",
  mimeType: JSON_TYPE,
};

function threadResource({ id, agent, status, updated_at }: ShownThread): Resource {
  return {
    uri: `${THREADS}/${encodeURIComponent(id)}`,
    name: id,
    title: `Thread with ${agent}`,
    description: `${status}, last changed ${updated_at}`,
    mimeType: JSON_TYPE,
    annotations: { lastModified: updated_at },
  };
}

async function threadsAfter(desk: Desk, principal: Principal, after: string | undefined): Promise<Page> {
  const input = { limit: PAGE, ...(after !== undefined && { after }) };
  return answered(await desk.call("holdfast/list-threads", input, { principal, door: "mcp" }), THREADS) as Page;
}

function answered(answer: unknown, uri: string): unknown {
  if (!isOperationError(answer)) return answer;
  throw isMissing(answer) ? new ResourceNotFoundError(uri) : refusalError(answer);
}

function isMissing({ code }: OperationError): boolean {
  return code === "thread_not_found";
}

function readUri(uri: string): { readonly id?: string; readonly after?: string } {
  const url = URL.parse(uri);
  if (url?.protocol !== "holdfast:" || url.host !== "threads" || url.hash !== "") throw new ResourceNotFoundError(uri);
  const after = url.searchParams.get("after");
  const [, id, ...deeper] = url.pathname.split("/");
  if (deeper.length > 0) throw new ResourceNotFoundError(uri);
  try {
    return {
      ...(id !== undefined && id !== "" && { id: decodeURIComponent(id) }),
      ...(after !== null && { after }),
    };
  } catch {
    throw new ResourceNotFoundError(uri);
  }
}
