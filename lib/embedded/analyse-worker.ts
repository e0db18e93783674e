/** The thread that analyses one large bundle. */
import { parentPort, workerData } from "node:worker_threads";
import { analyseBundle } from "../frontends/code/analyse.ts";

parentPort?.postMessage(analyseBundle(String(workerData)));
