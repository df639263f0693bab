// Answers one request of protocol v2.
import { writeArtifact } from "./artifact.ts";
import { failure, temporaryFailure } from "./failure.ts";
import { fetchPage, type Page } from "./fetch-page.ts";
import { fileEnding, isHtml, parseMediaType } from "./media-type.ts";
import { MOST_CONTENT_CHARS, type Options, readOptions } from "./options.ts";
import { readPageRequest, shownUrl } from "./page-request.ts";
import type { ResolveName } from "./resolve-name.ts";
import { clip, decodeText, excerptOf, htmlToText } from "./text.ts";

type Fields = Readonly<Record<string, unknown>>;

const EXCERPT_CHARS = 1_000;
/** The rest of a longer text is only in the artifact. */
const CONTENT_CHARS_BESIDE_ARTIFACT = 32_768;

export async function answer(request: unknown, ports: { readonly resolve: ResolveName }): Promise<object> {
  if (!isFields(request)) throw failure("The request on stdin is not a JSON object.");
  const options = readOptions(isFields(request.config) ? request.config : {});
  switch (request.command) {
    case "handle":
      return await handle(request, options, ports.resolve);
    case "health":
      return { status: "ok", result: `fetch is ready on Node ${process.version}.`, logs: [] };
    default:
      throw failure(`The fetch plugin has no command ${JSON.stringify(request.command)}.`);
  }
}

async function handle(request: Fields, options: Options, resolve: ResolveName): Promise<object> {
  const pageRequest = readPageRequest(payloadOf(request), options);
  const page = await inTime(options.timeoutMs, (signal) => fetchPage(pageRequest, options, { resolve, signal }));
  const { payload, logs } = await describe(page, pageRequest.url, request, options);
  const size = `${page.body.length} bytes`;
  const result = `Fetched ${shownUrl(pageRequest.url)}: ${page.status}, ${payload.content_type || "no content type"}, ${size}.`;
  return {
    status: "ok",
    result,
    events: [{ type: "fetch.completed", payload }],
    logs: [{ level: "info", message: result }, ...logs],
  };
}

async function describe(page: Page, url: URL, request: Fields, options: Options) {
  const media = parseMediaType(page.contentType);
  const text = decodeText(page.body, media);
  const artifact = await store(page, fileEnding(media, text !== undefined), request);
  const content = text !== undefined && options.content === "text" && isHtml(media) ? htmlToText(text) : (text ?? "");
  const most = artifact === undefined ? MOST_CONTENT_CHARS : CONTENT_CHARS_BESIDE_ARTIFACT;
  const clipped = clip(content, options.maxContentChars ?? most);
  const lost = artifact === undefined && (text === undefined ? page.body.length > 0 : clipped.length < content.length);
  return {
    payload: {
      url: url.href,
      final_url: page.url.href,
      status_code: page.status,
      content_type: media.type,
      bytes: page.body.length,
      content: clipped,
      content_clipped: clipped.length < content.length,
      binary: text === undefined,
      excerpt: text === undefined ? "" : excerptOf(text, media, EXCERPT_CHARS),
      ...(artifact !== undefined && { artifact_path: artifact }),
    },
    logs: lost ? [{ level: "warn", message: "Part of the body is lost: there is no workspace to write it to." }] : [],
  };
}

/** The whole body as a file of the agent's workspace; nothing outside an agent run. */
async function store(page: Page, ending: string, request: Fields): Promise<string | undefined> {
  const { workspace_dir: workspace } = request;
  if (typeof workspace !== "string" || workspace === "" || page.body.length === 0) return undefined;
  const jobId = typeof request.job_id === "string" ? request.job_id : "";
  const step = isFields(request.context) ? request.context.step : undefined;
  const number = Number.isSafeInteger(step) && Number(step) >= 0 ? String(step).padStart(2, "0") : "00";
  return await writeArtifact({ workspace, name: `fetch-${number}`, ending, jobId }, page.body);
}

async function inTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const reason = temporaryFailure(`The page did not arrive within ${timeoutMs} ms.`);
  const timer = setTimeout(() => controller.abort(reason), timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The event's payload; outside `handle` and for callers that send none, the job's payload. */
function payloadOf(request: Fields): Fields {
  if (isFields(request.event) && isFields(request.event.payload)) return request.event.payload;
  const payload = isFields(request.payload) ? request.payload : {};
  return typeof payload.type === "string" && isFields(payload.payload) ? payload.payload : payload;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
