// Whether the process lives, and whether it can be sent requests.
import { operationError } from "../contracts/operation-error.ts";
import type { Holdfast } from "../holdfast.ts";
import type { Mount } from "./door.ts";
import { problem } from "./problem.ts";
import { NONCE_HEADER, PROOF_HEADER, proofOf } from "./server-proof.ts";

/** A database that takes longer than this is as good as away. */
const PATIENCE_MS = 2_000;

/** `proofKey`: what the server proves itself with to whoever asks with a nonce. */
export const healthDoor =
  (proofKey: string | undefined): Mount =>
  (app, { holdfast, closing }) => {
    let looking: Promise<boolean> | undefined;
    /** Whoever asks while it is being looked gets the same answer: strangers cannot keep the database busy. */
    const look = () => {
      looking ??= answers(holdfast).finally(() => {
        looking = undefined;
      });
      return looking;
    };

    app.get("/health", (context) => {
      const proof = proofKey === undefined ? undefined : proofOf(proofKey, context.req.header(NONCE_HEADER));
      return context.json({ status: "ok" }, 200, proof === undefined ? {} : { [PROOF_HEADER]: proof });
    });
    app.get("/ready", async (context) => {
      if (closing.aborted) return problem(context, operationError("server_closing", "The server is about to end."));
      if (await look()) return context.json({ status: "ready" });
      return problem(context, operationError("database_unavailable", "The database does not answer."));
    });
  };

async function answers(holdfast: Holdfast): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), PATIENCE_MS);
  const asked = holdfast.threads.list({ limit: 1 }).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([asked, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
