/**
 * Signs requests with AWS Signature Version 4, for engines behind an API Gateway with IAM.
 * Its dependencies are loaded with the first request, so that importing it costs nothing.
 */
import type { SignatureV4 } from "@smithy/signature-v4";
import { refuseUnknownOptions } from "../known-options.ts";
import type { Sign, UnsignedRequest } from "../transport.ts";
import { awsRegionOf } from "./region.ts";
import { Sha256 } from "./sha256.ts";
import { SigningError } from "./signing-error.ts";

/** Credentials; those of a session have a token and expire. */
export type AwsCredentials = Readonly<{
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}>;

export type AwsSignerOptions = Readonly<{
  /** By default the region in the URL's host, else AWS_REGION or AWS_DEFAULT_REGION. */
  region?: string;
  /** By default environment, profiles, single sign-on, container or instance, as all AWS tools. */
  credentials?: AwsCredentials | (() => Promise<AwsCredentials>);
  /** The time of a signature; this machine's clock by default. */
  now?: () => Date;
}>;

/** Signs with the given or the default AWS credentials; expiring ones are renewed. */
export function awsSigner(options: AwsSignerOptions = {}): Sign {
  refuseUnknownOptions("awsSigner", options, { region: true, credentials: true, now: true });
  const { region, credentials, now } = options;
  const signers = new Map<string, Promise<SignatureV4>>();
  const signerFor = (name: string): Promise<SignatureV4> => {
    const known = signers.get(name) ?? createSigner(name, credentials);
    signers.set(name, known);
    return known;
  };
  return async (request) => {
    const signer = await signerFor(region ?? regionFor(request.url));
    const signingDate = now?.() ?? new Date();
    const signed = await explained(() => signer.sign(toSign(request), { signingDate }));
    // fetch sets this header itself and refuses another one.
    return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name !== "host"));
  };
}

async function createSigner(
  region: string,
  given: AwsSignerOptions["credentials"],
): Promise<SignatureV4> {
  const { SignatureV4 } = await import("@smithy/signature-v4");
  const credentials = given ?? (await usualCredentials());
  return new SignatureV4({ service: "execute-api", region, credentials, sha256: Sha256 });
}

/** One for the whole program: it caches the credentials, and renews them in time. */
async function usualCredentials(): Promise<() => Promise<AwsCredentials>> {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  usual ??= defaultProvider();
  return usual;
}

let usual: (() => Promise<AwsCredentials>) | undefined;

function regionFor(url: string): string {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const region = awsRegionOf(url) ?? (AWS_REGION || AWS_DEFAULT_REGION);
  if (region !== undefined && region !== "") return region;
  throw new SigningError(
    `The request to ${url} cannot be signed: its AWS region is not known. Name it (--region, \`region\` or AWS_REGION).`,
  );
}

/** The URL is signed as it is: the signer encodes the path a second time, as API Gateway does. */
function toSign({ method, url, headers, body }: UnsignedRequest) {
  const { protocol, hostname, host, pathname, searchParams } = new URL(url);
  const query: Record<string, string[]> = {};
  for (const name of searchParams.keys()) query[name] = searchParams.getAll(name);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return {
    method,
    protocol,
    hostname,
    path: pathname,
    query,
    headers: { ...headers, host },
    ...(bytes !== undefined && { body: bytes }),
  };
}

async function explained<T>(sign: () => Promise<T>): Promise<T> {
  try {
    return await sign();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SigningError(
      `The request cannot be signed: ${reason.replace(/\.?\s*$/, ".")} Give AWS credentials: sign in (\`aws sso login\`), name a profile with AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
      { cause },
    );
  }
}
