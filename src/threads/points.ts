// Named places in the life of a thread, before and after every commit and every outside effect: where a crash hurts most.

/** Told when a place is reached; what it does there, a process that dies included, is the caller's affair. */
export type Reached = (point: string) => void | Promise<void>;

export const passBy: Reached = () => undefined;
