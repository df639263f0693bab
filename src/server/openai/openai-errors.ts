// Refusals as clients of OpenAI read them. It stands before everything else, so that those who are not let in are told in
// the same words.

import type { Mount } from "../door.ts";
import type { Problem } from "../problem.ts";

export type OpenAiError = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param: string | null;
  };
};

/** What kind of mistake a status tells of. */
const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  429: "rate_limit_error",
};

export function openAiError({
  status,
  code,
  detail,
  hint,
  data,
}: Omit<Problem, "type" | "title" | "request_id">): OpenAiError {
  const type = types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  const param = data?.param;
  return {
    error: {
      message: hint === undefined ? detail : `${detail} ${hint}`,
      ...{ type, code, param: typeof param === "string" ? param : null },
    },
  };
}

/** To be mounted before callers are asked who they are. */
export const openAiErrors: Mount = (app) => {
  app.use("/v1/*", async (context, next) => {
    await next();
    const { res } = context;
    if (!res.headers.get("content-type")?.startsWith("application/problem+json")) return;
    const told = openAiError((await res.json()) as Problem);
    const headers = new Headers(res.headers);
    headers.set("content-type", "application/json");
    headers.delete("content-length");
    context.res = undefined;
    context.res = new Response(JSON.stringify(told), { status: res.status, headers });
  });
};
