// Where the end-to-end tests deploy to, what it lacks, and the roads round that.

import { startEmulator, stopEmulator } from "../emulator/start-emulator.ts";
import { type AwsPlace, emulatedPlace, ownAccount } from "./aws-place.ts";
import type { Context } from "./cdk.ts";
import type { E2eTarget } from "./e2e-target.ts";

export type E2ePlace = Readonly<{
  aws: AwsPlace;
  /** What must be deployed otherwise than usual there. */
  roads: Context;
  lacks: E2eTarget["lacks"];
  needsBootstrap: boolean;
  /** Ends the place itself; absent where it is not ours to end, and what was deployed is removed. */
  end?: () => Promise<void>;
  /** What ends it by hand. */
  endedBy: string;
}>;

type Emulation = Readonly<{ folder: string; detached: boolean; log: (line: string) => void }>;

/** An emulator of our own that enforces permissions. */
export async function ownEmulator(options: Emulation): Promise<E2ePlace> {
  options.log("Starting the AWS emulator…");
  const { endpoint, pid } = await startEmulator({ ...options, enforceIam: true });
  return {
    aws: emulatedPlace(endpoint),
    roads: {},
    lacks: {},
    needsBootstrap: true,
    end: () => stopEmulator(pid),
    endedBy: `kill -- -${pid}`,
  };
}

/** What AWS_ENDPOINT_URL names: an emulator that somebody runs, or AWS itself. */
export async function givenPlace(endpoint: string, env: NodeJS.ProcessEnv): Promise<E2ePlace> {
  const isAws = /(^|\.)amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
  const firesSchedules = isAws || !(await isFreeLocalStack(endpoint));
  const hasHttpApis = firesSchedules;
  const enforcesIam = isAws || (await refusesStrangers(endpoint));
  const timers = env.FERMATA_E2E_TIMERS ?? (firesSchedules ? "scheduler" : "wheel");
  const api = env.FERMATA_E2E_API ?? (hasHttpApis ? "http" : "rest");
  return {
    aws: isAws ? ownAccount() : emulatedPlace(endpoint),
    roads: { timers, api },
    lacks: {
      ...(!enforcesIam && { iam: `${endpoint} does not check who calls` }),
      ...(timers === "wheel" && { schedules: "deployed with the wheel, which needs no schedules" }),
    },
    needsBootstrap: !isAws,
    endedBy: "npx cdk destroy",
  };
}

/** The free edition of LocalStack stores schedules and never fires one, and has no HTTP APIs. */
async function isFreeLocalStack(endpoint: string): Promise<boolean> {
  const answer = await fetch(new URL("/_localstack/health", endpoint)).catch((cause: unknown) => {
    throw new Error(`Nothing answers at ${endpoint} (AWS_ENDPOINT_URL).`, { cause });
  });
  return answer.ok && (await answer.text()).includes('"community"');
}

async function refusesStrangers(endpoint: string): Promise<boolean> {
  const unsigned = "/?Action=GetCallerIdentity&Version=2011-06-15";
  return (await fetch(new URL(unsigned, endpoint), { method: "POST" })).status === 403;
}
