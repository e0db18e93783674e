import type { Origin } from "../../definition/sandbox.ts";
import type { SourceMap } from "./source-map.ts";

/** The first place where the author declares a workflow or a step of this name. */
export function declarationOf(bundle: Bundle, kind: Kind, name: string): Origin | undefined {
  return declarationsOf(bundle, kind, name)[0];
}

type Bundle = Readonly<{ source: string; map: SourceMap }>;
type Kind = "workflow" | "step";

/**
 * All of them; none where the bundle does not have the name written out. A search in the text: the
 * syntax tree of a large bundle takes seconds.
 */
export function declarationsOf(
  { source, map }: Bundle,
  kind: Kind,
  name: string,
): readonly Origin[] {
  const argument = `(${JSON.stringify(name)}`;
  // Where names clash, the bundler numbers them.
  const called = new RegExp(`(?<![\\w$.])${kind}\\d*$`);
  const origins: Origin[] = [];
  for (let at = source.indexOf(argument); at >= 0; at = source.indexOf(argument, at + 1)) {
    const lineStart = source.lastIndexOf("\n", at) + 1;
    const match = called.exec(source.slice(lineStart, at));
    if (match === null) continue;
    const line = source.slice(0, lineStart).split("\n").length;
    const origin = map.originalOf(line, match.index + 1);
    if (origin !== undefined) origins.push(origin);
  }
  return origins;
}
