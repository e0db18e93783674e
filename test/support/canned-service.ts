// An AWS service with canned responses, for those that the emulator cannot produce.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type Canned = Readonly<{
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}>;

export type CannedService = Readonly<{
  /** The settings of a client for it: a single attempt. */
  settings: Readonly<{
    endpoint: string;
    region: string;
    credentials: Readonly<{ accessKeyId: string; secretAccessKey: string }>;
    maxAttempts: number;
  }>;
  /** The bodies that came, in order. */
  asked: readonly string[];
  close(): Promise<void>;
}>;

/** Starts one that gives these responses in turn, and repeats the last one. */
export async function cannedService(...answers: readonly Canned[]): Promise<CannedService> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    const { status = 200, headers = {}, body = {} } = answer ?? {};
    textOf(request).then((text) => {
      asked.push(text);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    }, response.destroy);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      maxAttempts: 1,
    },
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** How a service refuses a call. */
export function refusal(type: string, status = 400): Canned {
  const body = { __type: type, message: `because of ${type}` };
  return { status, headers: { "x-amzn-errortype": type }, body };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}
