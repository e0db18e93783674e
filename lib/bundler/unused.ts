import type { Statement } from "@babel/types";
import { type Binding, isTypeOnly } from "../frontends/code/syntax/scopes.ts";
import { type Span, spanOf } from "../frontends/code/syntax/tree.ts";
import type { AuthorFile } from "./author-file.ts";
import type { Edit } from "./edits.ts";
import { jsxNames } from "./jsx-names.ts";
import { type Unit, type Use, unitsOf, usesIn } from "./top-level.ts";

/** What only the places that are cut use, directly or through each other, and imports that nobody uses. */
export function unusedDeclarations(file: AuthorFile, cut: readonly Span[]): readonly Edit[] {
  const units = unitsOf(file);
  const used = usedBindings(file, units, cut);
  const unused = units.filter(
    (unit) => !unit.isExported && !unit.declares.some((binding) => used.has(binding)),
  );
  const byStatement = Map.groupBy(units, ({ statement }) => statement);
  return file.program.body.flatMap((statement) =>
    blanksOf(statement, byStatement.get(statement) ?? [], new Set(unused)),
  );
}

/** What an acting statement or an export reaches, without what is cut. */
function usedBindings(
  file: AuthorFile,
  units: readonly Unit[],
  cut: readonly Span[],
): ReadonlySet<Binding> {
  const uses = usesIn(file, units, cut);
  const byUnit = Map.groupBy(uses, (use) => use.in);
  const unitOf = new Map(units.flatMap((unit) => unit.declares.map((one) => [one, unit] as const)));
  const isRoot = (use: Use) => use.in === undefined || use.in.isExported;
  const used = new Set(uses.filter(isRoot).map((use) => use.of));
  for (const name of jsxNames(file, cut)) {
    const binding = file.names.top.get(name);
    if (binding !== undefined) used.add(binding);
  }
  // A set is iterated with what is added on the way, so this follows the uses to their end.
  for (const binding of used) {
    const unit = unitOf.get(binding);
    for (const next of unit === undefined ? [] : (byUnit.get(unit) ?? [])) used.add(next.of);
  }
  return used;
}

function blanksOf(
  statement: Statement,
  units: readonly Unit[],
  unused: ReadonlySet<Unit>,
): readonly Edit[] {
  const isImport = statement.type === "ImportDeclaration" && !isTypeOnly(statement);
  if (!isImport && units.length === 0) return [];
  if (units.length === partsOf(statement, units) && units.every((unit) => unused.has(unit))) {
    return [{ kind: "blank", span: spanOf(statement), leave: "statement" }];
  }
  return units.filter((unit) => unused.has(unit)).flatMap(emptiedValue);
}

/** A statement with several variables is one unit a variable, if each declares a name. */
function partsOf(statement: Statement, units: readonly Unit[]): number {
  return statement.type === "VariableDeclaration" ? statement.declarations.length : units.length;
}

/** Of several variables in one statement, only the value of an unused one is emptied. */
function emptiedValue({ node }: Unit): readonly Edit[] {
  if (node.type !== "VariableDeclarator" || node.id.type !== "Identifier") return [];
  if (node.init == null) return [];
  return [{ kind: "blank", span: spanOf(node.init), leave: "undefined" }];
}
