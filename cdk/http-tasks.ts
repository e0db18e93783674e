import { Stack, Token } from "aws-cdk-lib";
import { type IGrantable, PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { checkHttpSettings, VARIABLES } from "../functions/settings.ts";

/**
 * Whom tasks of the type `fermata:http` may call. Hosts are `[http://]host[:port]`; with `*.` in
 * front, every name below.
 */
export type HttpTaskProps = Readonly<{
  /** Only these; every public host, by https and on port 443, unless said. */
  allowHosts?: readonly string[];
  /** These besides, though they stand at private addresses. */
  allowPrivate?: readonly string[];
  /** Secrets by the names that references use, as in `secret:API_KEY`. */
  secrets?: Readonly<Record<string, HttpTaskSecret>>;
}>;

export type HttpTaskSecret = Readonly<{
  /** A secret of AWS Secrets Manager, or its ARN. */
  secret: ISecret | string;
  /** Where the secret is a JSON object: the field to take. All of its text unless said. */
  field?: string;
  /** The only hosts that it may go to. */
  hosts: readonly string[];
}>;

/** What the functions that run tasks are told; throws with everything that is wrong. */
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

/** A secret that is known by its name has an ARN that ends in six characters which nobody knows. */
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
