// The process in which `holdfast dev` serves a project. It prints nothing itself: what happens is told to the one that
// started it, and with that one it ends.
import { serveForDev } from "./serve-for-dev.ts";

// A terminal sends them to both processes; when to end or to reload is said by the other one.
process.on("SIGINT", () => undefined);
process.on("SIGHUP", () => undefined);
// The other one was killed. Whoever starts it again finds the database free: this is no time to be slow.
process.once("disconnect", () => process.exit(1));

await serveForDev();
// Whatever the project has left running.
process.exit(0);
