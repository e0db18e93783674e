// A program that serves an engine on the given folder. One of its handlers blocks the thread for
// ever, another one ends the process; both report before they do.

import { writeSync } from "node:fs";
import { openEngine, serveEngine } from "../../lib/embedded/index.ts";

const [, , dataDir = ""] = process.argv;

/** At once, whatever happens to the process then. */
const tell = (text: string) => writeSync(1, `${text}\n`);

const engine = await openEngine({
  dataDir,
  tasks: {
    block: () => {
      tell("blocked");
      for (;;);
    },
    crash: () => {
      tell("crashed");
      process.exit(3);
    },
    fine: () => ({ fine: true }),
  },
});
const { url } = await serveEngine(engine, { port: 0 });
tell(`listening ${url}`);
