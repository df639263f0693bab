// A text without what is drawn anew every time: the ids of threads and requests, and what tells copies of a file apart.

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const PATH = /\/attachments\\?\/[\w.-]+/g;

const COPY = /-[0-9a-f]{8}(?![0-9a-z])/g;

/** For comparing what was said in two runs of the same scenario. */
export function withoutIds(text: string): string {
  return text.replace(ID, "<id>").replace(PATH, (path) => path.replace(COPY, "-<copy>"));
}
