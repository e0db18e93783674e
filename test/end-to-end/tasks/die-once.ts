import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Crashes its whole process in the middle of its work, once wherever it runs. */
export default async (_input: object, { idempotencyKey }: { idempotencyKey: string }) => {
  const grave = join(tmpdir(), `died-${encodeURIComponent(idempotencyKey)}`);
  if (!existsSync(grave)) {
    writeFileSync(grave, "");
    process.kill(process.pid, "SIGKILL");
  }
  return { died: true };
};
