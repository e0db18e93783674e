/**
 * The URL of a deployment's API. The stack's output names a host below amazonaws.com; an emulator
 * serves it under its own address, with the API's id in the path.
 */
export function apiUrlAt(output: string, endpoint: string | undefined): string {
  if (endpoint === undefined) return output.replace(/\/+$/, "");
  const { hostname, pathname } = new URL(output);
  const [id = ""] = hostname.split(".");
  const stage = pathname.replace(/\/+$/, "");
  return `${endpoint.replace(/\/+$/, "")}/_aws/execute-api/${id}${stage}`;
}
