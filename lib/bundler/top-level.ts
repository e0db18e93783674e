import type { Statement } from "@babel/types";
import type { Reference } from "../frontends/code/syntax/names.ts";
import type { Binding } from "../frontends/code/syntax/scopes.ts";
import { isOf, type Node, type Span, spanOf } from "../frontends/code/syntax/tree.ts";
import type { AuthorFile } from "./author-file.ts";

/** A declaration outside of all functions that matters only to those who use what it declares. */
export type Unit = Readonly<{
  node: Node;
  /** The statement that it stands in, with its `export`. */
  statement: Statement;
  isExported: boolean;
  declares: readonly Binding[];
}>;

/** The functions, classes, variables and imports at the top of a file; statements that act are none. */
export function unitsOf({ program, names }: AuthorFile): readonly Unit[] {
  const declared = Map.groupBy(names.top.values(), ({ declaredBy }) => declaredBy);
  return program.body.flatMap((statement) =>
    declarationsIn(statement).flatMap((node) => {
      const declares = declared.get(node);
      const isExported = statement.type === "ExportNamedDeclaration";
      return declares === undefined ? [] : [{ node, statement, isExported, declares }];
    }),
  );
}

/** What one place of a file refers to. */
export type Use = Readonly<{ of: Binding; in: Unit | undefined }>;

/** Every use of a name that the file declares, by the unit that it stands in, without what is cut. */
export function usesIn(
  file: AuthorFile,
  units: readonly Unit[],
  cut: readonly Span[],
): readonly Use[] {
  const findCut = finderOf(cut.map((span) => [span, true] as const));
  const findUnit = finderOf(units.map((unit) => [spanOf(unit.node), unit] as const));
  return file.names.references
    .filter(({ node }) => findCut(spanOf(node)) === undefined)
    .flatMap(({ node, binding }: Reference) =>
      binding === undefined ? [] : [{ of: binding, in: findUnit(spanOf(node)) }],
    );
}

/** Finds the value whose span encloses a place. Of spans within each other, the outermost counts. */
function finderOf<T>(entries: readonly (readonly [Span, T])[]): (place: Span) => T | undefined {
  const outer: (readonly [Span, T])[] = [];
  for (const entry of entries.toSorted(([a], [b]) => a.start - b.start || b.end - a.end)) {
    const last = outer.at(-1)?.[0];
    if (last === undefined || entry[0].start >= last.end) outer.push(entry);
  }
  return ({ start, end }) => {
    let low = 0;
    let high = outer.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((outer[middle]?.[0].start ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    const found = outer[low - 1];
    return found !== undefined && end <= found[0].end ? found[1] : undefined;
  };
}

function declarationsIn(statement: Statement): readonly Node[] {
  if (isOf(statement, "ExportNamedDeclaration")) {
    return statement.declaration == null ? [] : declarationsIn(statement.declaration);
  }
  if (isOf(statement, "VariableDeclaration")) return statement.declarations;
  if (isOf(statement, "ImportDeclaration")) return statement.specifiers;
  // A decorator may act on its class.
  if (isOf(statement, "ClassDeclaration")) return statement.decorators == null ? [statement] : [];
  return isOf(statement, "FunctionDeclaration", "TSEnumDeclaration") ? [statement] : [];
}
