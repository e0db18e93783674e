// Where the end-to-end tests deploy to, what the target lacks, and the settings that avoid that.

import { type EmulatorOptions, startEmulator } from "../emulator/start-emulator.ts";
import { type AwsPlace, emulatedPlace, ownAccount } from "./aws-place.ts";
import type { Context } from "./cdk.ts";
import type { E2eTarget } from "./e2e-target.ts";

export type E2ePlace = Readonly<{
  aws: AwsPlace;
  /** Settings that differ from the defaults there. */
  alternatives: Context;
  lacks: E2eTarget["lacks"];
  needsBootstrap: boolean;
  /** The command that ends it manually. */
  endedBy: string;
}>;

type Emulation = Pick<EmulatorOptions, "folder" | "detached" | "onLaunch"> &
  Readonly<{ log: (line: string) => void }>;

/** Our own emulator, which enforces permissions; it lacks nothing, but can be configured to. */
export async function ownEmulator(options: Emulation, env: NodeJS.ProcessEnv): Promise<E2ePlace> {
  options.log("Starting the AWS emulator…");
  const { endpoint, pid } = await startEmulator({ ...options, enforceIam: true });
  const alternatives = alternativesOf(env, "complete");
  return {
    aws: emulatedPlace(endpoint),
    alternatives,
    lacks: lackOfSchedules(alternatives),
    needsBootstrap: true,
    endedBy: `kill -- -${pid}`,
  };
}

/** The target of AWS_ENDPOINT_URL: a running emulator, or AWS itself. */
export async function givenPlace(endpoint: string, env: NodeJS.ProcessEnv): Promise<E2ePlace> {
  const isAws = /(^|\.)amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
  const alternatives = alternativesOf(
    env,
    isAws || !(await isFreeLocalStack(endpoint)) ? "complete" : "partial",
  );
  const enforcesIam = isAws || (await refusesStrangers(endpoint));
  return {
    aws: isAws ? ownAccount() : emulatedPlace(endpoint),
    alternatives,
    lacks: {
      ...lackOfSchedules(alternatives),
      loopback: "functions there do not reach services on this machine",
      ...(!enforcesIam && { iam: `${endpoint} does not check who calls` }),
    },
    needsBootstrap: !isAws,
    endedBy: "npx cdk destroy",
  };
}

type Alternatives = Readonly<{ timers: string; api: string }>;

/** From the environment; otherwise the defaults of a target with all services, or only some. */
function alternativesOf(env: NodeJS.ProcessEnv, services: "complete" | "partial"): Alternatives {
  const [timers, api] = services === "complete" ? ["scheduler", "http"] : ["wheel", "rest"];
  return {
    timers: env.FERMATA_E2E_TIMERS ?? timers,
    api: env.FERMATA_E2E_API ?? api,
  };
}

function lackOfSchedules({ timers }: Alternatives): E2eTarget["lacks"] {
  return timers === "wheel" ? { schedules: "deployed with the wheel, which needs none" } : {};
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
