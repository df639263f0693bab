// Records are frozen, and typed as what nobody changes; what an operation answers with is plain JSON.

/** The same as plain JSON, with the type that it is answered under. */
export function plain<Answer>(record: unknown): Answer {
  return JSON.parse(JSON.stringify(record)) as Answer;
}
