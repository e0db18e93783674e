// A deployment on this machine: starts an AWS emulator, deploys into it as into an account, and
// returns when the API responds. Run again, it updates the deployment. `local:down` ends it.
//
//   npm run local:up
//   npm run local:up -- --tasks FOLDER      with your own task handlers besides those of the examples

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { deployExample, type Example, findExamples, startExamples } from "../cli/dev/example.ts";
import { type Client, createClient } from "../lib/client/index.ts";
import { readCommandLine } from "./command-line.ts";
import { apiUrlAt } from "./deployment/api-url.ts";
import { type AwsPlace, emulatedPlace } from "./deployment/aws-place.ts";
import { bootstrap, type Context, deploy } from "./deployment/cdk.ts";
import { endBySignal } from "./deployment/end-by-signal.ts";
import {
  forgetLocalState,
  isRunning,
  LOCAL_FOLDER,
  type LocalState,
  readLocalState,
  removeLocalState,
  writeLocalState,
} from "./deployment/local-state.ts";
import { untilAnswers } from "./deployment/until-answers.ts";
import { freePort } from "./emulator/free-port.ts";
import { startEmulator, stopEmulator } from "./emulator/start-emulator.ts";

/** The port where tools expect an emulated AWS, if it is free. */
const USUAL_PORT = 4566;

/** Short queue delay and lead, so that a wait of half a minute takes the route of one of a month. */
const CONTEXT: Context = {
  auth: "none",
  alarms: "off",
  timerQueueMaxSeconds: "20",
  scheduleLeadSeconds: "5",
};

const began = performance.now();
/** What a signal to end has to undo: nothing for an update, which the next one repairs. */
let undo = async (): Promise<void> => {};
const isEnding = endBySignal(() => undo());
/** An earlier failure has left no log. */
let hasBegun = false;

try {
  await up(taskFolders());
} catch (cause) {
  if (!isEnding()) tellWhy(cause);
  process.exitCode = 1;
}

/** Checked first, so that a missing one is not reported half a minute later. */
function taskFolders(): readonly string[] {
  const { tasks = [] } = readCommandLine(import.meta.filename, {
    options: { tasks: { type: "string", multiple: true } },
  }).values;
  for (const folder of tasks) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new Error(`--tasks is "${folder}", but there is no such folder.`);
    }
  }
  return tasks;
}

function tellWhy(cause: unknown): void {
  const message = cause instanceof Error ? cause.message : String(cause);
  console.error(`local:up: ${message}`);
  if (hasBegun && existsSync(LOCAL_FOLDER))
    console.error("Logs: .fermata/local/emulator.log and deploy.log");
}

async function up(tasks: readonly string[]): Promise<void> {
  hasBegun = true;
  const known = readLocalState();
  if (known !== undefined && (await isRunning(known))) return update(known, tasks);
  removeLocalState();
  await begin(tasks);
}

async function begin(tasks: readonly string[]): Promise<void> {
  tell("Starting the AWS emulator…");
  let launched: number | undefined;
  undo = async () => {
    if (launched !== undefined) await stopEmulator(launched);
    removeLocalState();
  };
  const emulator = await startEmulator({
    folder: LOCAL_FOLDER,
    detached: true,
    log: tell,
    port: await freePort(USUAL_PORT),
    onLaunch: (pid) => {
      launched = pid;
    },
  });
  try {
    const place = emulatedPlace(emulator.endpoint);
    const state = { endpoint: emulator.endpoint, region: place.region, pid: emulator.pid };
    writeLocalState(state);
    tell("Preparing the emulated account (cdk bootstrap)…");
    await bootstrap(place);
    await deployInto(place, state, tasks);
  } catch (cause) {
    // The logs stay, until the next time.
    await stopEmulator(emulator.pid);
    forgetLocalState();
    throw cause;
  }
}

async function update(state: LocalState, tasks: readonly string[]): Promise<void> {
  tell(`The emulator runs already at ${state.endpoint}: what is deployed there is updated.`);
  await deployInto(emulatedPlace(state.endpoint), state, tasks);
}

async function deployInto(
  place: AwsPlace,
  state: LocalState,
  tasks: readonly string[],
): Promise<void> {
  const examples = findExamples();
  const folders = [...exampleTasks(), ...tasks];
  tell("Deploying (cdk deploy)…");
  const context = { ...CONTEXT, tasks: folders.join(",") };
  const outputs = await deploy({ place, context, folder: LOCAL_FOLDER });
  const apiUrl = apiUrlAt(outputs.ApiUrl ?? "", place.endpoint);
  tell("Waiting until the API answers…");
  const client = createClient({ baseUrl: apiUrl });
  await untilAnswers(client);
  for (const example of examples) await deployExample(client, example);
  const [shown] = examples;
  if (shown !== undefined && (await isNew(client, shown))) {
    await startExamples(client, [shown], (ids) => tell(`The example starts as ${ids.join(", ")}.`));
  }
  writeLocalState({ ...state, apiUrl, outputs });
  tellHow(apiUrl);
}

/** The handlers of all examples, including those that are not deployed yet. */
function exampleTasks(): readonly string[] {
  const home = join(import.meta.dirname, "../examples");
  return readdirSync(home)
    .map((name) => join(home, name, "tasks"))
    .filter((folder) => existsSync(folder));
}

/** One instance is enough to see; an update starts no second. */
async function isNew(client: Client, { definitionId }: Example): Promise<boolean> {
  const { items } = await client.list({ definition: definitionId, limit: 1 });
  return items.length === 0;
}

function tellHow(apiUrl: string): void {
  tell(`Fermata is deployed to an emulated AWS: ${apiUrl}`);
  console.log(`
  curl -s ${apiUrl}/v1/health
  npm run -s fermata -- why approval-1 --local
  npm run -s fermata -- --help            # every command takes --local
  export FERMATA_URL=${apiUrl}            # or set this once
  npm run local:down                      # ends it, and removes what it left

.fermata/local.json says the same to programs. What the functions log is in the emulated CloudWatch Logs:
docs/how-to/run-on-local-aws.md says how to read it.`);
}

function tell(line: string): void {
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s  ${line}`);
}
