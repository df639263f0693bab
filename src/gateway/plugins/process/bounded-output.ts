// What a process printed, up to a number of bytes.

export type BoundedOutput = {
  /** False once more was added than fits; the rest is dropped. */
  add(chunk: Uint8Array): boolean;
  size(): number;
  /** The bytes so far. Valid until the next `add`. */
  bytes(): Uint8Array;
  /** The bytes as text of at most that many bytes in UTF-8; invalid UTF-8 is replaced. */
  text(): string;
};

const FIRST_ALLOCATION = 4096;

/** One buffer that grows: a process that prints byte by byte takes no more memory than one that prints all at once. */
export function boundedOutput(limit: number): BoundedOutput {
  let buffer = new Uint8Array(0);
  let size = 0;
  let isCut = false;

  function reserve(needed: number): void {
    if (needed <= buffer.length) return;
    const larger = new Uint8Array(Math.min(limit, Math.max(needed, buffer.length * 2, FIRST_ALLOCATION)));
    larger.set(buffer.subarray(0, size));
    buffer = larger;
  }

  return {
    add(chunk) {
      const taken = chunk.subarray(0, limit - size);
      reserve(size + taken.length);
      buffer.set(taken, size);
      size += taken.length;
      if (taken.length < chunk.length) isCut = true;
      return !isCut;
    },
    size: () => size,
    bytes: () => buffer.subarray(0, size),
    text: () => clip(decode(buffer.subarray(0, size), isCut), limit),
  };
}

/** `isCut`: a character whose last bytes are missing is left out. */
function decode(bytes: Uint8Array, isCut: boolean): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
}

/** Replaced bytes take three times their room. */
function clip(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= limit ? text : decode(bytes.subarray(0, limit), true);
}
