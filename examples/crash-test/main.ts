// Crash-tests a tool of one's own: its process is killed wherever the tool is at work, and another one goes on.
import { crashTest } from "holdfast/testing";

const scenarios = new URL("scenario.ts", import.meta.url);

for (const scenario of ["silent", "lying", "right"]) {
  const report = await crashTest(scenarios, { scenario, at: /effect run_tool|charge/ });
  const { fewest, most } = report.effects.charge ?? {};
  console.log(`${scenario}: killed ${report.crashes.length} times, charged ${fewest} to ${most} times`);
  for (const sentence of [...report.unknown, ...report.violations]) console.log(`  ${sentence}`);
}
