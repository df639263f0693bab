// The events of a thread as doors read them: the type that the runtime's own streams have.
import type { Holdfast } from "../../holdfast.ts";

type Handle = Awaited<ReturnType<Holdfast["threads"]["get"]>>;

export type StreamEvent = ReturnType<Handle["stream"]> extends AsyncIterable<infer Event> ? Event : never;
