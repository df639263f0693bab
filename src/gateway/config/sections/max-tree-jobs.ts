// How many jobs one tree may have unless the configuration says otherwise.
import type { JsonMap } from "../../../contracts/json.ts";
import type { PluginSettings } from "../gateway-config.ts";

const LEAST = 1_000;

const STEPS_OF_A_RUN = 20;
const ATTEMPTS_OF_A_STEP = 2;

/** The longest pipeline that is counted on for a tool. */
const PIPELINE_STEPS = 5;

/**
 * Enough for every agent at its step ceiling. A tool request costs a job for every step of its pipeline, a second one
 * for a step with an `if`, and one for the bridge; each step of the run may be requested in all its attempts. Twice
 * that, because a tool may emit several events, and at least 1000. With the defaults of an agent (20 steps, 2
 * attempts) that is 2 × (1 + 20 × 2 × 11) = 882 jobs, hence 1000.
 */
export function maxTreeJobs(plugins: Iterable<PluginSettings>): number {
  const perRequest = 2 * PIPELINE_STEPS + 1;
  let most = LEAST;
  for (const { agent, config } of plugins) {
    if (!agent) continue;
    const steps = positive(config, "max_steps") ?? positive(config, "max_loops") ?? STEPS_OF_A_RUN;
    const attempts = positive(config, "max_attempts_per_step") ?? ATTEMPTS_OF_A_STEP;
    most = Math.max(most, 2 * (1 + steps * attempts * perRequest));
  }
  return Math.min(most, Number.MAX_SAFE_INTEGER);
}

function positive(config: JsonMap, key: string): number | undefined {
  const value = Object.hasOwn(config, key) ? config[key] : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
