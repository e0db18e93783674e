import { Stack, Token } from "aws-cdk-lib";
import { type IGrantable, PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { checkHttpSettings, VARIABLES } from "../functions/settings.ts";

/**
 * Which hosts tasks of the type `fermata:http` may call, as `[http://]host[:port]`; a leading `*.`
 * means every subdomain.
 */
export type HttpTaskProps = Readonly<{
  /** Only these; by default every public host, by https and on port 443. */
  allowHosts?: readonly string[];
  /** These as well, at private addresses. */
  allowPrivate?: readonly string[];
  /** Secrets by the names that references use, as in `secret:API_KEY`. */
  secrets?: Readonly<Record<string, HttpTaskSecret>>;
}>;

export type HttpTaskSecret = Readonly<{
  /** A secret of AWS Secrets Manager, or its ARN. */
  secret: ISecret | string;
  /** If the secret is a JSON object: the field to use. The whole text by default. */
  field?: string;
  /** The only hosts that it may be sent to. */
  hosts: readonly string[];
}>;

/** The environment of the functions that run tasks; throws with all problems. */
export function httpEnvironment(
  scope: Construct,
  props: HttpTaskProps,
): Readonly<Record<string, string>> {
  const { allowHosts, allowPrivate, secrets = {} } = props;
  const all = Object.entries(secrets);
  checkHttpSettings({
    ...(allowHosts !== undefined && { allowHosts: known(allowHosts) }),
    ...(allowPrivate !== undefined && { allowPrivate: known(allowPrivate) }),
    secrets: Object.fromEntries(all.map(([name, { hosts }]) => [name, known(hosts)])),
  });
  const json = (value: unknown): string => Stack.of(scope).toJsonString(value);
  const places = all.map(([name, { secret, field, hosts }]) => {
    const arn = typeof secret === "string" ? secret : secret.secretArn;
    return [name, { arn, ...(field !== undefined && { field }), hosts }];
  });
  return {
    ...(allowHosts !== undefined && { [VARIABLES.httpAllowHosts]: json(allowHosts) }),
    ...(allowPrivate !== undefined && { [VARIABLES.httpAllowPrivate]: json(allowPrivate) }),
    ...(places.length > 0 && { [VARIABLES.httpSecrets]: json(Object.fromEntries(places)) }),
  };
}

/** Lets a role read these secrets, and no others. */
export function grantSecrets(role: Role, { secrets = {} }: HttpTaskProps): void {
  const all = Object.values(secrets).map(({ secret }) => secret);
  if (all.length === 0) return;
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ["secretsmanager:GetSecretValue"],
      resources: [...new Set(all.map(arnOf))],
    }),
  );
  for (const secret of all) decryptWith(role, secret);
}

/** The ARN of a secret that is known by name ends in six unknown characters. */
function arnOf(secret: ISecret | string): string {
  if (typeof secret === "string") return secret;
  return secret.secretFullArn ?? `${secret.secretArn}-??????`;
}

function decryptWith(role: IGrantable, secret: ISecret | string): void {
  if (typeof secret !== "string") secret.encryptionKey?.grantDecrypt(role);
}

/** Hosts that only the deployment knows cannot be checked before. */
const known = (hosts: readonly string[]): readonly string[] =>
  hosts.filter((host) => !Token.isUnresolved(host));
