import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "../support/ended-commands.ts");

/** A running script whose command has started another; both are connected to the test. */
async function aScript(way = "") {
  const gone: Promise<unknown>[] = [];
  const here = Promise.withResolvers<void>();
  const told = Promise.withResolvers<Socket>();
  let names = "";
  const server = createServer((socket: Socket) => {
    gone.push(
      once(
        socket.on("error", () => {}),
        "close",
      ),
    );
    socket.on("data", (text) => {
      names += String(text);
      if (names.includes("grandchild") && /(^| )child/.test(names)) here.resolve();
      if (names.includes("told")) told.resolve(socket);
    });
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const script = spawn(process.execPath, [SCRIPT, String(port), way], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void script.kill("SIGKILL"));
  let said = "";
  const heard = Promise.withResolvers<void>();
  script.stdout.on("data", (text) => {
    said += String(text);
    if (said.includes("SIGTERM")) heard.resolve();
  });
  const closed = once(script, "close");
  await here.promise;
  return {
    script,
    /** Once the command has got the signal to end: its connection. */
    told: told.promise,
    /** Once the script has got a SIGTERM. */
    heard: heard.promise,
    /** Once the script has ended, and so have all processes that it had started. */
    over: async () => {
      const [code] = await closed;
      await Promise.all(gone);
      return { code, said, connections: gone.length };
    },
  };
}

describe("a script that runs a command which starts others", () => {
  test.for([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("leaves no process behind when it is ended by %s", async ([signal, wanted]) => {
    const { script, over } = await aScript();

    script.kill(signal);

    const { code, said, connections } = await over();
    expect({ code, connections }).toEqual({ code: wanted, connections: 2 });
    expect(said).toContain("undone");
  });

  test("keeps ending when it is signalled twice", async () => {
    const { script, told, heard, over } = await aScript("patient");

    // Of two signals that are pending at once a process may get either first.
    script.kill("SIGINT");
    const command = await told;
    script.kill("SIGTERM");
    await heard;
    command.write("end");

    expect(await over()).toMatchObject({ code: 130, connections: 2 });
  });

  test("leaves no process behind that ignores signals", async () => {
    const { script, over } = await aScript("stubborn");

    script.kill("SIGTERM");

    expect(await over()).toMatchObject({ code: 143, connections: 2 });
  });

  test("leaves no process behind when it ends by itself", async () => {
    const { script, over } = await aScript("fails");

    script.stdin.write("now");

    expect(await over()).toMatchObject({ code: 7, connections: 2 });
  });
});
