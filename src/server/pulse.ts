// One clock for everything that beats at the same pace: thousands of streams share a timer, and none keeps the process
// alive.

export interface Beating {
  beat(): void;
}

type Pulse = { readonly timer: NodeJS.Timeout; readonly members: Set<Beating> };

const pulses = new Map<number, Pulse>();

/** Calls `beat` every so many milliseconds, until `leavePulse`. */
export function joinPulse(everyMs: number, member: Beating): void {
  const pulse = pulses.get(everyMs) ?? startPulse(everyMs);
  pulse.members.add(member);
}

export function leavePulse(everyMs: number, member: Beating): void {
  const pulse = pulses.get(everyMs);
  if (!pulse) return;
  pulse.members.delete(member);
  if (pulse.members.size > 0) return;
  clearInterval(pulse.timer);
  pulses.delete(everyMs);
}

function startPulse(everyMs: number): Pulse {
  const members = new Set<Beating>();
  const timer = setInterval(() => {
    for (const member of members) member.beat();
  }, everyMs);
  timer.unref();
  const pulse = { timer, members };
  pulses.set(everyMs, pulse);
  return pulse;
}
