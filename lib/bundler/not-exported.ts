import type { CallExpression } from "@babel/types";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Binding } from "../frontends/code/syntax/scopes.ts";
import { withoutTypes } from "../frontends/code/syntax/tree.ts";
import { type AuthorFile, parseAuthorFile, sdkNameOf } from "./author-file.ts";
import { bundlerDiagnostic } from "./diagnostics.ts";
import { readEntry } from "./source-files.ts";
import { unitsOf } from "./top-level.ts";

/** Warns about top-level workflows and steps that are not exported, which the engine cannot find. */
export function notExported(path: string, nameOf: (path: string) => string): readonly Diagnostic[] {
  return declarationsIn(path).flatMap(({ isExported, handle, binding }) =>
    isExported ? [] : [warningOf(handle, binding, nameOf(path))],
  );
}

/** Whether a file declares a workflow that it exports; one that it passes on does not count. */
export function exportsWorkflow(path: string): boolean {
  return declarationsIn(path).some(
    ({ isExported, handle }) => isExported && handle.kind === "workflow",
  );
}

type Declaration = Readonly<{ isExported: boolean; handle: Handle; binding: Binding }>;

/** The workflows and steps at the top of a file. */
function declarationsIn(path: string): readonly Declaration[] {
  const text = readEntry(path);
  const file = text === undefined ? undefined : parseAuthorFile(path, text);
  if (file === undefined) return [];
  const exported = exportedLater(file);
  return unitsOf(file).flatMap((unit) => {
    const [binding] = unit.declares;
    const call = unit.node.type === "VariableDeclarator" ? unit.node.init : undefined;
    const handle = call == null ? undefined : handleOf(withoutTypes(call), file);
    if (binding === undefined || handle === undefined) return [];
    return [{ isExported: unit.isExported || exported.has(binding), handle, binding }];
  });
}

type Handle = Readonly<{ kind: "workflow" | "step"; id: string }>;

function handleOf(value: Parameters<typeof withoutTypes>[0], file: AuthorFile): Handle | undefined {
  if (value.type !== "CallExpression") return undefined;
  const kind = sdkNameOf(value.callee, file);
  return kind === "workflow" || kind === "step" ? { kind, id: idOf(value) } : undefined;
}

/** The id as it is written; nothing where it is computed. */
function idOf({ arguments: [first] }: CallExpression): string {
  return first?.type === "StringLiteral" ? ` ${JSON.stringify(first.value)}` : "";
}

/** What is exported by a statement of its own: `export { order }`, `export default order`. */
function exportedLater({ program, names }: AuthorFile): ReadonlySet<Binding> {
  const exported = program.body.flatMap((statement) => {
    if (statement.type === "ExportDefaultDeclaration") return [statement.declaration];
    if (statement.type !== "ExportNamedDeclaration" || statement.source != null) return [];
    return statement.specifiers.flatMap((one) =>
      one.type === "ExportSpecifier" ? [one.local] : [],
    );
  });
  return new Set(exported.flatMap((node) => names.bindingOf(node) ?? []));
}

function warningOf({ kind, id }: Handle, { identifier }: Binding, file: string): Diagnostic {
  const { line = 1, column = 0 } = identifier.loc?.start ?? {};
  const lacks = { workflow: "it is not deployed", step: "this engine has no handler for it" }[kind];
  return bundlerDiagnostic({
    severity: "warning",
    code: "code/not-exported",
    message: `The ${kind}${id} is not exported, so ${lacks}.`,
    file,
    line,
    column: column + 1,
    hint: "Write `export` in front of it.",
  });
}
