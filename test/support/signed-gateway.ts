import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Arrived, verifySignature } from "./verify-signature.ts";

/** What came to the gateway: the request, and the signer of a valid signature. */
export type Caller = Arrived & Readonly<{ signedBy: ReturnType<typeof verifySignature> }>;

/**
 * A server that accepts requests signed with the one key pair it knows, as an API Gateway would.
 */
export async function openSignedGateway(
  secret: string,
  answer: (caller: Caller) => Readonly<{ status: number; type?: string; body: unknown }> = () => ({
    status: 200,
    body: {},
  }),
) {
  const callers: Caller[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const arrived = await arrivedOf(request);
    const caller = { ...arrived, signedBy: verifySignature(arrived, () => secret) };
    callers.push(caller);
    const {
      status,
      type = "application/json",
      body,
    } = caller.signedBy === undefined
      ? { status: 403, body: { message: "Forbidden" } }
      : answer(caller);
    response.writeHead(status, { "content-type": type }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    callers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function arrivedOf(request: IncomingMessage): Promise<Arrived> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  };
}
