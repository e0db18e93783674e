import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";

export type Call = Readonly<{
  client: LambdaClient;
  /** Its name or ARN. */
  functionName: string;
  payload: unknown;
  abortSignal?: AbortSignal;
}>;

/** The response of a function: a value, or the error that it ended with. */
export type Answer = Readonly<{ value: unknown } | { error: Readonly<Record<string, unknown>> }>;

/** Invokes a function and waits for its response; throws when there is none. */
export async function invoke({
  client,
  functionName,
  payload,
  abortSignal,
}: Call): Promise<Answer> {
  const command = new InvokeCommand({
    FunctionName: functionName,
    InvocationType: "RequestResponse",
    Payload: Buffer.from(JSON.stringify(payload)),
  });
  const { FunctionError, Payload } = await client.send(command, abortSignal ? { abortSignal } : {});
  const value = parseJson(Payload?.transformToString() ?? "");
  if (FunctionError === undefined) return { value };
  return { error: typeof value === "object" && value !== null ? { ...value } : {} };
}

/** Text that is not JSON is returned as it is; only functions with a custom runtime respond so. */
function parseJson(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
