// holdfast audit …: the record of what was done, to be handed to a stranger, and checked by one.
import { readFile } from "node:fs/promises";
import { readPublicKey } from "../../contracts/audit/signer.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { Refusal } from "../refusal.ts";
import type { Verb } from "../verb.ts";
import { writeSecret } from "../write-secret.ts";

export const auditVerbs: readonly Verb[] = [
  {
    name: "audit export",
    summary: "the record of everything, or of one thread, as JSON",
    options: { "--thread <thread>": "only one thread", "--out <file>": "into a file; on stdout unless given" },
    async run({ given, terminal, client }) {
      const exported = await (await client()).call("holdfast/export-audit", { thread: given.thread });
      if (typeof given.out !== "string") return terminal.answer(exported, (found) => JSON.stringify(found));
      await writeSecret(given.out, `${JSON.stringify(exported)}\n`);
      terminal.note(
        `Written to ${given.out}. It is checked with: holdfast audit verify ${given.out} --public-key <key>`,
      );
    },
  },
  {
    name: "audit verify",
    summary: "check a record; needs nothing but the file and the public key",
    takes: { "<file>": "what audit export has written" },
    options: { "--public-key <key>": "the key that it has to be signed with; HOLDFAST_PUBLIC_KEY unless given" },
    async run({ given, terminal, env }) {
      const key = given.publicKey ?? env.HOLDFAST_PUBLIC_KEY;
      if (typeof key !== "string") {
        const message = "Name the public key: a record that is checked with the key it brings itself proves nothing.";
        throw new Refusal({ code: "usage", message }, "holdfast audit key prints it, where the record was made.");
      }
      if (!readPublicKey(key)) {
        const message = "The public key is none of Ed25519: nothing was checked.";
        throw new Refusal({ code: "usage", message }, "Give it as holdfast audit key prints it, or as PEM.");
      }
      const { verifyAudit } = await import("../../index.ts");
      const onProgress = (done: number, of: number) => terminal.progress(done, of, "threads");
      const verdict = verifyAudit(await readRecord(String(given.file)), key, { onProgress });
      terminal.answer(verdict as unknown as JsonMap, () => (verdict.ok ? "The record is whole." : brokenIn(verdict)));
      if (!verdict.ok) throw new Refusal({ code: "audit_damaged", message: "The record is not whole." });
    },
  },
  {
    name: "audit key",
    summary: "the public key with which records are checked",
    async run({ terminal, client }) {
      const answer = await (await client()).call("holdfast/get-audit-key");
      terminal.answer(answer, ({ public_key }) => String(public_key));
    },
  },
  {
    name: "audit checkpoint",
    summary: "sign where everything stands now; keep it elsewhere",
    async run({ terminal, client }) {
      const answer = await (await client()).call("holdfast/audit-checkpoint");
      terminal.answer(answer, (signed) => JSON.stringify(signed));
    },
  },
];

async function readRecord(file: string): Promise<JsonMap> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as JsonMap;
  } catch (thrown) {
    throw new Refusal({ code: "record_not_found", message: `${file} cannot be read as JSON.` }, undefined, thrown);
  }
}

function brokenIn(verdict: object): readonly string[] {
  return ["The record is not whole:", JSON.stringify(verdict, null, 2)];
}
