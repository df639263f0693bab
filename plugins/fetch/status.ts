// Which HTTP statuses are a failure, and which of these may pass.
import { STATUS_CODES } from "node:http";
import { type Failure, failure, temporaryFailure } from "./failure.ts";
import { shownUrl } from "./page-request.ts";

export function refusedStatus(status: number, url: URL, okStatuses: readonly number[]): Failure | undefined {
  if ((status >= 200 && status < 300) || okStatuses.includes(status)) return undefined;
  const sentence = `${shownUrl(url)} answered ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  return status === 408 || status === 429 || status >= 500 ? temporaryFailure(`${sentence}.`) : failure(`${sentence}.`);
}
