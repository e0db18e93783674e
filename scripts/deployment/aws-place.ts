/**
 * Which AWS endpoint is used, and with which credentials; everything that calls AWS gets one of
 * these.
 */
export type AwsPlace = Readonly<{
  /** Absent: AWS itself. */
  endpoint?: string;
  region: string;
  /** Absent: the default credentials of the caller. */
  credentials?: Readonly<{ accessKeyId: string; secretAccessKey: string }>;
  /** The environment of every command that calls it. */
  environment: NodeJS.ProcessEnv;
}>;

/** What an emulator accepts as an account and its administrator. */
export const EMULATED = {
  account: "000000000000",
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
} as const;

/** An emulator: none of the caller's own AWS settings may reach it, or be used by mistake. */
export function emulatedPlace(endpoint: string): AwsPlace {
  const mine = Object.entries(process.env).filter(([name]) => !/^(AWS|CDK)_/.test(name));
  return {
    endpoint,
    region: EMULATED.region,
    credentials: EMULATED.credentials,
    environment: {
      ...Object.fromEntries(mine),
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: EMULATED.region,
      AWS_DEFAULT_REGION: EMULATED.region,
      AWS_ACCESS_KEY_ID: EMULATED.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: EMULATED.credentials.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_CONFIG_FILE: "/dev/null",
      AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    },
  };
}

/** The account that the caller's own settings name. */
export function ownAccount(): AwsPlace {
  const { AWS_ENDPOINT_URL: _, ...environment } = process.env;
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (region === undefined) throw new Error("Set AWS_REGION: it says where to deploy.");
  return { region, environment };
}
