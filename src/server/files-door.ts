// Files of a thread as bytes, as browsers and curl take them. What a browser would run is only ever offered as a download.
import type { Context } from "hono";
import { DOWNLOAD_FILE, type DownloadedFile, WRITE_FILE } from "../abilities/files.ts";
import { HoldfastError } from "../contracts/error.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import type { Mount, ServerEnv, ServerHost } from "./door.ts";
import { problem } from "./problem.ts";

const PATH = "/threads/:thread_id/content/:path{.+}";

/** What a browser only shows. Everything else might be a page, and would run as one of ours. */
const SHOWN = /^(text\/plain|image\/(png|jpeg|gif|webp|avif)|audio\/[\w.+-]+|video\/[\w.+-]+|application\/json)(;|$)/i;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(; ?[\w-]+=[\w"._-]+)?$/;

export const filesDoor: Mount = (app, host) => {
  app.get(PATH, async (context) => {
    const answer = await call(context, host, DOWNLOAD_FILE, inputOf(context));
    if (isOperationError(answer)) return problem(context, answer);
    return sent(context, answer as DownloadedFile);
  });

  app.put(PATH, async (context) => {
    const bytes = await bytesOf(context);
    if (isOperationError(bytes)) return problem(context, bytes);
    const type = context.req.header("content-type");
    const data = Buffer.from(bytes).toString("base64");
    const input = { ...inputOf(context), data, ...(type !== undefined && { mime_type: type }) };
    const answer = await call(context, host, WRITE_FILE, input);
    return isOperationError(answer) ? problem(context, answer) : context.json(answer as object);
  });
};

function inputOf(context: Context<ServerEnv>) {
  return { thread_id: context.req.param("thread_id") ?? "", path: context.req.param("path") ?? "" };
}

async function call(context: Context<ServerEnv>, { holdfast }: ServerHost, name: string, input: object) {
  return await holdfast.abilities.call(name, input, { principal: context.get("principal"), door: "http" });
}

async function bytesOf(context: Context<ServerEnv>): Promise<ArrayBuffer | OperationError> {
  try {
    return await context.req.arrayBuffer();
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return operationErrorOf(thrown, thrown.code);
    return operationError("invalid_body", "The body did not come to its end.");
  }
}

function sent(context: Context<ServerEnv>, { path, mime_type, bytes }: DownloadedFile): Response {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const way = SHOWN.test(mime_type) ? "inline" : "attachment";
  return context.newResponse(bytes as Uint8Array<ArrayBuffer>, 200, {
    "Content-Type": MEDIA_TYPE.test(mime_type) ? mime_type : "application/octet-stream",
    "Content-Disposition": `${way}; filename*=UTF-8''${encodeURIComponent(name).replaceAll(/['()*]/g, escaped)}`,
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  });
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
