/** Draws the imports, from what dependency-cruiser finds in the source. */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import * as z from "zod";

/** Names of folders or layers, and what each imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

const house = resolve(import.meta.dirname, "../..");
const Cruised = z.object({
  modules: z.array(
    z.object({ source: z.string(), dependencies: z.array(z.object({ resolved: z.string() })) }),
  ),
});

const USE_CASES = /^lib\/engine\/(?!shapes|storage|rows|step|drive|recovery)([^/]+)\/$/;

/** The drawings of the page, by the name of their markers. */
export function drawImports(): Readonly<Record<"rooms" | "layers" | "use-cases", string>> {
  const folders = importsOfFolders();
  return {
    rooms: mermaidOf(reduced(merged(folders, roomOf))),
    layers: mermaidOf(reduced(merged(folders, layerOf))),
    "use-cases": mermaidOf(merged(folders, (path) => USE_CASES.exec(path)?.[1])),
  };
}

/** The page with the drawings between their markers. */
export function withDrawings(page: string, drawings: Readonly<Record<string, string>>): string {
  return page.replaceAll(
    /(<!-- drawn: ([\w-]+) -->\n)```mermaid\n[\s\S]*?```/g,
    (_, place: string, name: string) => `${place}\`\`\`mermaid\n${drawings[name] ?? ""}\`\`\``,
  );
}

function importsOfFolders(): ImportGraph {
  const ours = ["lib", "functions", "cli", "cdk"];
  const told = execFileSync(
    process.execPath,
    [
      resolve(house, "node_modules/.bin/depcruise"),
      ...ours,
      ...["--include-only", `^(${ours.join("|")})/`],
      // The files at the top of lib/engine stay files: some are below all layers, some above.
      ...["--collapse", "^(lib/engine/[^/]+|lib/(?!engine/)[^/]+|functions|cli|cdk)/"],
      ...["--output-type", "json"],
    ],
    { cwd: house, encoding: "utf8", maxBuffer: 64 * 1_024 * 1_024 },
  );
  const { modules } = Cruised.parse(JSON.parse(told));
  return new Map(
    modules.map(({ source, dependencies }) => [
      source,
      new Set(dependencies.map(({ resolved }) => resolved)),
    ]),
  );
}

const roomOf = (path: string): string | undefined =>
  /^(lib\/[^/]+|functions|cli|cdk)\//.exec(path)?.[1];

function layerOf(path: string): string | undefined {
  if (/^lib\/engine\/world\.ts$/.test(path)) return "world.ts";
  if (/^lib\/engine\/[^/]+\.ts$/.test(path)) return "engine.ts";
  if (USE_CASES.test(path)) return "use cases";
  return /^lib\/engine\/([^/]+)\/$/.exec(path)?.[1];
}

/** The graph with several nodes merged into one; nodes without a name are left out. */
function merged(graph: ImportGraph, nameOf: (path: string) => string | undefined): ImportGraph {
  const named = new Map<string, Set<string>>();
  for (const [source, targets] of graph) {
    const from = nameOf(source);
    if (from === undefined) continue;
    const known = named.get(from) ?? new Set();
    for (const to of [...targets].map(nameOf)) if (to !== undefined && to !== from) known.add(to);
    named.set(from, known);
  }
  return named;
}

/** Without the imports that are implied by others. */
export function reduced(graph: ImportGraph): ImportGraph {
  const reaches = (from: string, to: string): boolean =>
    [...(graph.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  return new Map(
    [...graph].map(([from, targets]) => [
      from,
      new Set(
        [...targets].filter((to) => ![...targets].some((by) => by !== to && reaches(by, to))),
      ),
    ]),
  );
}

function mermaidOf(graph: ImportGraph): string {
  const idOf = (name: string) => name.replaceAll(/\W/g, "_");
  const names = [...graph.keys()].sort();
  const nodes = names.map((name) => `  ${idOf(name)}["${name}"]\n`);
  const edges = names.flatMap((from) =>
    [...(graph.get(from) ?? [])].sort().map((to) => `  ${idOf(from)} --> ${idOf(to)}\n`),
  );
  return `flowchart TD\n${[...nodes, ...edges].join("")}`;
}
