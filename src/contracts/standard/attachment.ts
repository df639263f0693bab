// Files that messages point to: the record in the message, the place of a new one, and its content as it was sent.
import { ATTACHMENTS, extensionOf } from "./file-path.ts";
import { usualExtension } from "./mime-type.ts";
import type { Attachment } from "./standard-message.ts";

/** What is known of a stored file. */
type StoredFile = {
  readonly path: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  readonly width: number | null;
  readonly height: number | null;
};

/** How a message points to a stored file. */
export function attachmentOf(
  { path, name, mime_type, size, width, height }: StoredFile,
  { id, name: shown = name, description }: { id: string; name?: string | undefined; description?: string | undefined },
): Attachment {
  return {
    ...{ id, type: "file", path, name: shown, mimeType: mime_type, size },
    ...(width !== null && { width }),
    ...(height !== null && { height }),
    ...(description !== undefined && { description }),
  };
}

/** The attachments among a message's metadata; what is none is left out. */
export function attachmentsIn(metadata: { readonly attachments?: unknown }): readonly Attachment[] {
  const { attachments } = metadata;
  return Array.isArray(attachments) ? attachments.filter(isAttachment) : [];
}

function isAttachment(value: unknown): value is Attachment {
  return typeof value === "object" && value !== null && "path" in value && typeof value.path === "string";
}

/** Where a file that came with a message is stored: nothing of the sender's spelling but the extension. */
export function uploadPath(file: { name: string; mimeType: string }, at: { ms: number; random: string }): string {
  return `${ATTACHMENTS}/${at.ms}-${at.random}.${extensionOf(file.name) || usualExtension(file.mimeType)}`;
}

/** How many bytes a base64 text stands for, without decoding it. */
export function base64Size(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

/** The bytes of a base64 text; undefined when it is none. */
export function readBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  // What is no base64 is skipped by the decoder, so the bytes are fewer than the text stands for.
  return text.length % 4 === 0 && bytes.length === base64Size(text) ? bytes : undefined;
}
