// A planner that is made when it is first asked: most turns that are ignored never need one.
import type { Planner } from "./planner.ts";

export function lazyPlanner(make: () => Promise<Planner> | Planner): Planner {
  let made: Promise<Planner> | undefined;
  const planner = () => {
    made ??= Promise.resolve().then(make);
    return made;
  };
  return {
    frame: async (input, options) => await (await planner()).frame(input, options),
    plan: async (input, options) => await (await planner()).plan(input, options),
    reflect: async (input, options) => await (await planner()).reflect(input, options),
  };
}
