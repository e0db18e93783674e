// A program that serves an engine on the folder it is given. One of its handlers never gives the
// thread back, another one ends the process; both tell before they do.

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
