import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";

export type Call = Readonly<{
  client: LambdaClient;
  /** Its name or ARN. */
  functionName: string;
  payload: unknown;
  abortSignal?: AbortSignal;
}>;

/** What a function answered: a value, or the error that it ended with. */
export type Answer = Readonly<{ value: unknown } | { error: Readonly<Record<string, unknown>> }>;

/** Calls a function and waits for its answer; throws when none came. */
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

/** What is not JSON is told as it is; only functions with a runtime of their own answer so. */
function parseJson(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
