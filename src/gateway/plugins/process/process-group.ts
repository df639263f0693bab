// Process groups of plugins: a signal to the group reaches everything that the plugin started and left in it.

/** Leaders of the groups that run now. They have groups of their own, so Ctrl-C in a terminal does not reach them. */
const running = new Set<number>();

/** Sends the signal to every member; 0 only asks. False when the group has no member that can be signalled. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (leader <= 1) return false; // -1 would address every process there is
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** From now on the group is killed when this process exits, until `untrackGroup`. */
export function trackGroup(leader: number): void {
  if (running.size === 0) process.on("exit", killAll);
  running.add(leader);
}

export function untrackGroup(leader: number): void {
  if (running.delete(leader) && running.size === 0) process.off("exit", killAll);
}

function killAll(): void {
  for (const leader of running) signalGroup(leader, "SIGKILL");
}
