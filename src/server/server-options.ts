// What a server can be told, and what it does unless told.
import type { Mount } from "./door.ts";
import type { Rate } from "./rate-limit.ts";

export type ServerOptions = {
  /** What the server listens on; 127.0.0.1 unless given, where only this machine can come. */
  readonly hostname?: string;
  /** Names and addresses under which the server is reached, beside those of this machine itself. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call, such as `https://app.example`; none but the server's own unless given. */
  readonly allowedOrigins?: readonly string[];
  /** Whose claims about the agents behind a request are believed. Without, they are read and passed over. */
  readonly callers?: {
    /** Hosts that are believed by their name, such as `https://agents.example`. */
    readonly hosts?: readonly string[];
    /** Keys that are shared with hosts: those are believed when they sign. */
    readonly keys?: Readonly<Record<string, string>>;
  };
  /** How many agents may have called each other; 16 unless given, and never more. */
  readonly maxChainDepth?: number;
  /** The most that a request may bring; 1 MB unless given. */
  readonly maxBodyBytes?: number;
  /** The most that a file may have that is sent as it is; 10 MB unless given. */
  readonly maxFileBytes?: number;
  /** How many requests each token may make; 100 a second, 200 at once unless given. False for no limit. */
  readonly rate?: Rate | false;
  /** How often an address may fail to say who calls, or send a webhook of the gateway that is refused; once a second, 20 at once unless given. False for no limit. */
  readonly failureRate?: Rate | false;
  /** Streams that one token may hold open; 100 unless given. */
  readonly maxStreams?: number;
  /** How often open streams hear that the server is there; every 15 seconds unless given. */
  readonly heartbeatMs?: number;
  /** How long readers of streams wait before they come back, as they are told; a second unless given. */
  readonly retryMs?: number;
  /** Lets callers in who do not say who they are, as the audience `public` of this agent; nobody unless given. */
  readonly anonymousAgent?: string;
  /** Told a line of JSON about every request, without anything secret. */
  readonly log?: (line: string) => void;
  /** More doors, for callers that are known. */
  readonly doors?: readonly Mount[];
  /** More doors that find out themselves who calls, such as by a signature. */
  readonly openDoors?: readonly Mount[];
};
