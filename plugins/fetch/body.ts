// Reads the body of a response, never more of it than allowed, encoded or decoded.
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { failure } from "./failure.ts";
import { discard } from "./hop.ts";

type Limits = { readonly isHead: boolean; readonly maxBytes: number };

const DECODERS = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["br", promisify(brotliDecompress)],
]);

export async function readBody(response: IncomingMessage, { isHead, maxBytes }: Limits): Promise<Buffer> {
  if (isHead) {
    discard(response);
    return Buffer.alloc(0);
  }
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decode = DECODERS.get(encoding);
  if (decode === undefined && encoding !== "identity" && encoding !== "") {
    discard(response);
    throw failure(`The body has the content encoding ${JSON.stringify(encoding)}, which was not asked for.`);
  }
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) {
    discard(response);
    throw tooLarge(maxBytes);
  }
  const encoded = await collect(response, maxBytes);
  if (decode === undefined || encoded.length === 0) return encoded;
  try {
    return await decode(encoded, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw failure(`The body is not valid ${encoding}.`, error);
  }
}

async function collect(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number) {
  return failure(`The body is larger than ${maxBytes} bytes. The plugin's config.max_bytes is the limit.`);
}
