import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { type Bundled, bundleWorkflows } from "../../lib/bundler/bundle-workflows.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder with these files, by their paths; removed after the tests. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "fermata-bundler-"));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The first of the files, bundled. */
export async function bundle(files: Readonly<Record<string, string>>): Promise<Bundled> {
  const [entry = ""] = Object.keys(files);
  return bundleWorkflows(join(folderWith(files), entry));
}

/** The text of a bundle that must succeed. */
export async function sourceOf(files: Readonly<Record<string, string>>): Promise<string> {
  const bundled = await bundle(files);
  if (!bundled.ok) throw new Error(JSON.stringify(bundled.diagnostics));
  return bundled.source;
}

/** The code of a bundle that came from the author's files, without the SDK and the source map. */
export function authorsPart(source: string): string {
  return source
    .replace(/\/\/# sourceMappingURL.*\n?/, "")
    .split(/^ {2}(?=\/\/ \S+$)/m)
    .slice(1)
    .filter((part) => !/^\/\/ fermata-e(?:ngine|ntry):/.test(part))
    .join("");
}
