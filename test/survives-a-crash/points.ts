// Crash points, numbered by occurrence: "after commit begun run_tool #2" is the second time that place was reached.

/** Gives each place its number in this process. */
export function countPoints(): (point: string) => string {
  const times = new Map<string, number>();
  return (point) => {
    const time = (times.get(point) ?? 0) + 1;
    times.set(point, time);
    return `${point} #${time}`;
  };
}
