// A file that somebody has asked for, for its owner alone: what is exported was said in confidence.
import { writeFile } from "node:fs/promises";
import { errorMessage } from "../contracts/error.ts";
import { Refusal } from "./refusal.ts";

/** Throws `file_not_written`. */
export async function writeSecret(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (thrown) {
    const message = `${file} cannot be written: ${errorMessage(thrown)}`;
    throw new Refusal({ code: "file_not_written", message }, "Name a file in a folder that is there.", thrown);
  }
}
