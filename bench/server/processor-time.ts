// How long the processor has worked for this process, all of its threads and the kernel included.

/** Microseconds. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
