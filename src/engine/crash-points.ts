// Named points before and after every commit and every external effect: the places where a crash can do the most damage.

/** Called when a point is reached. A test may end the process there. */
export type OnCrashPoint = (point: string) => void | Promise<void>;

export const ignoreCrashPoints: OnCrashPoint = () => undefined;
