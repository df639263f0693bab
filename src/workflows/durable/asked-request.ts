// Requests that a run opens and the answers that it accepts: bound with the installation's key to exactly what was asked.
import type { NewRequest, RequestKind, RequestTerms, StoredRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { Host } from "../../threads/host.ts";
import { answerMac, bindingOf } from "../../threads/requests/binding.ts";
import { hideSecrets } from "../../threads/secrets/hide-secrets.ts";
import { installationSecrets } from "../../threads/secrets/installation-secrets.ts";
import { createKnownSecrets } from "../../threads/secrets/known-secrets.ts";
import type { Sealing } from "../../threads/secrets/sealing.ts";
import { storableName } from "./storable-name.ts";

export type Asked = {
  readonly id: string;
  readonly call: number;
  readonly kind: RequestKind;
  /** What it is about, in a word: the tool, the agent, the workflow, or the step that waits. */
  readonly name: string;
  /** For everybody who may see the request. */
  readonly shown: JsonMap;
  /** What the answer is bound to; sealed. */
  readonly parameters: JsonMap;
  /** Milliseconds until it expires. */
  readonly expiresAfter: number | null;
  readonly terms?: RequestTerms;
};

/** What is shown has no secret of the installation in it, and none of those that stand under the name of one. */
export function newRequest(host: Host, asked: Asked): NewRequest {
  const { sealing } = host;
  const { id, call, kind, parameters, expiresAfter, terms } = asked;
  // Bound to the name as it is stored: that is what is read back.
  const name = storableName(asked.name);
  const secrets = createKnownSecrets(installationSecrets(host));
  secrets.addFrom(parameters);
  const shown = JSON.stringify(hideSecrets(asked.shown, secrets));
  const whole =
    kind === "approval" ? { apply_input: { tool_name: name, parameters } } : { tool_name: name, parameters };
  return {
    ...{ id, call, kind, tool_name: name, shown },
    sealed: sealing.seal(JSON.stringify(whole), id),
    binding: bindingOf(sealing, { id, kind, shown, ...(terms && { terms }) }, { tool_name: name, parameters }),
    expires_after: expiresAfter === null ? null : expiresAfter * 1_000,
    ...(terms && { terms }),
  };
}

/** What was asked, as the run knows it now. */
export type Expected = { readonly name: string; readonly parameters: JsonMap };

export type ReadAnswer =
  | { readonly outcome: "answered"; readonly answer: JsonMap; readonly resolver: string | null }
  /** Written past the runtime, or an answer to something else. */
  | { readonly outcome: "mismatch" }
  | { readonly outcome: "unanswered" };

/** An answer counts only if it was submitted here, for exactly what this run has asked. */
export function readAnswer(sealing: Sealing, request: StoredRequest | undefined, expected: Expected): ReadAnswer {
  if (!request) return { outcome: "mismatch" };
  const { parameters } = expected;
  const tool_name = storableName(expected.name);
  if (request.binding !== bindingOf(sealing, request, { tool_name, parameters })) return { outcome: "mismatch" };
  if (request.answer === null) return { outcome: "unanswered" };
  // What a child answers is part of the child's own commit.
  const isSubmitted = request.kind === "child" || request.answer_mac === answerMac(sealing, request);
  if (!isSubmitted) return { outcome: "mismatch" };
  const answer: unknown = JSON.parse(request.answer);
  return { outcome: "answered", answer: isMap(answer) ? snapshotMap(answer) : {}, resolver: request.resolver };
}

/** What an answer is bound to: the place in the run that asked, and what it asked with. */
export function boundTo(
  run: { readonly id: string; readonly attempt: number; readonly stored: { readonly spec_hash: string } },
  { path }: { readonly path: string },
  input: JsonMap,
): JsonMap {
  return { run_id: run.id, attempt: run.attempt, path, spec_hash: run.stored.spec_hash, input };
}
