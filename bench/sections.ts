// The sections of the benchmark, in the order of the page.
import { bytes } from "./durable/bytes.ts";
import { children } from "./durable/children.ts";
import { manyThreads } from "./durable/many-threads.ts";
import { million } from "./durable/million.ts";
import { parked } from "./durable/parked.ts";
import { postgresTurns } from "./durable/postgres-turns.ts";
import { postgresWorkers } from "./durable/postgres-workers.ts";
import { resume } from "./durable/resume.ts";
import { sqliteTurns } from "./durable/sqlite-turns.ts";
import { gatewayPipelines } from "./gateway/three-steps.ts";
import { importTime } from "./import-time.ts";
import { inMemory } from "./loop/in-memory.ts";
import { visibility } from "./loop/visibility.ts";
import { memories } from "./memory/memories.ts";
import { peers } from "./peers.ts";
import type { Section } from "./section.ts";
import { requests } from "./server/requests.ts";
import { streams } from "./server/streams.ts";
import { workflowsSleeping } from "./workflows/sleeping.ts";
import { workflowSleeps } from "./workflows/sleeps.ts";
import { workflowSteps } from "./workflows/steps.ts";

export const sections: readonly Section[] = [
  sqliteTurns,
  postgresTurns,
  bytes,
  children,
  manyThreads,
  postgresWorkers,
  resume,
  parked,
  workflowSteps,
  workflowSleeps,
  workflowsSleeping,
  million,
  memories,
  gatewayPipelines,
  requests,
  streams,
  importTime,
  peers,
  inMemory,
  visibility,
];
