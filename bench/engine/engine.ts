// What the experiment asks of whoever keeps threads running: the same verbs of every contestant.
import type { Pool } from "pg";
import type { RunStep } from "./step.ts";

/** How many steps one process runs at a time. Two processes work, so four steps. */
export const WORKERS_PER_PROCESS = 2;

/** Each contestant has a database of its own on the same server. */
export type Database = { readonly url: string; readonly pool: Pool };

export interface Engine {
  readonly name: string;
  /** The settings it runs with and why, in a sentence for the page of results. */
  readonly setting: string;
  /** Creates what it keeps beside `threads`, `steps` and `messages`. */
  prepare(database: Database): Promise<void>;
  /** What is left of threads that ran once and wait now: most threads of a real system. */
  leaveParked(database: Database, threads: readonly number[]): Promise<void>;
  /** Makes the first step of these threads due. */
  start(database: Database, threads: readonly number[]): Promise<void>;
  /** The way from outside: stores a message and wakes its thread, both in one transaction. */
  openSender(url: string): Promise<Sender>;
  /** Works in this process until it is stopped. */
  work(url: string, runStep: RunStep): Promise<{ stop(): Promise<void> }>;
  /** What its tables say of work whose worker is gone, and when it would go on by itself. */
  describeAbandoned(pool: Pool): Promise<string>;
}

export interface Sender {
  send(thread: number): Promise<void>;
  close(): Promise<void>;
}
