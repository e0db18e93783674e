import type { Problem } from "./report.ts";
import type { Names, Reference } from "./syntax/names.ts";
import { isFunction, isOf, type Node } from "./syntax/tree.ts";

type Context = Readonly<{ names: Names; declaredInSdk(node: Node): boolean }>;

/**
 * A step or a workflow that is declared while a workflow runs: no host would have its code. One that
 * a function makes while the file is loaded is fine, so a function counts only if a workflow's own
 * code is all that calls it.
 */
export function nestedDeclaration(
  { node, name }: Reference,
  { names, declaredInSdk }: Context,
): Problem | undefined {
  // esbuild appends a number where two files use one name.
  const kind = /^(step|workflow)\d*$/.exec(name)?.[1];
  const call = names.parentOf(node);
  if (kind === undefined || !isOf(call, "CallExpression") || call.callee !== node) return undefined;
  if (!new Callers({ names, declaredInSdk }).runsInWorkflow(node)) return undefined;
  const [first] = call.arguments;
  const id = isOf(first, "StringLiteral") ? ` ${JSON.stringify(first.value)}` : "";
  return {
    severity: "error",
    code: "code/nested-declaration",
    message: `The ${kind}${id} is declared inside of a workflow.`,
    hint: "Declare it at the top of the file, and export it.",
  };
}

/** Follows functions to those who call them. */
class Callers {
  readonly #context: Context;
  /** By function; one that is still being followed calls itself, and what counts is who else does. */
  readonly #known = new Map<Node, boolean>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Whether a place is reached by the functions of workflows alone. */
  runsInWorkflow(node: Node): boolean {
    const { names } = this.#context;
    for (let at = names.parentOf(node); at !== undefined; at = names.parentOf(at)) {
      if (isFunction(at) && (this.#isOfWorkflow(at) || this.#servesWorkflows(at))) return true;
    }
    return false;
  }

  #servesWorkflows(fn: Node): boolean {
    const known = this.#known.get(fn);
    if (known !== undefined) return known;
    this.#known.set(fn, true);
    const { names } = this.#context;
    const declaration = declarationOf(fn, names);
    const uses =
      declaration === undefined
        ? []
        : names.references.filter(({ binding }) => binding?.declaredBy === declaration);
    const serves = ({ node }: Reference) => this.#isOfWorkflow(node) || this.runsInWorkflow(node);
    const found = uses.length > 0 && uses.every(serves);
    this.#known.set(fn, found);
    return found;
  }

  /** Whether a node is the second argument of `workflow`. */
  #isOfWorkflow(node: Node): boolean {
    const { names, declaredInSdk } = this.#context;
    const call = names.parentOf(node);
    if (!isOf(call, "CallExpression") || call.arguments[1] !== node) return false;
    const { callee } = call;
    const declared = names.bindingOf(callee)?.identifier;
    const isNamed = isOf(callee, "Identifier") && /^workflow\d*$/.test(callee.name);
    return isNamed && declared !== undefined && declaredInSdk(declared);
  }
}

/** What gives a function its name; undefined where it has none. */
function declarationOf(fn: Node, names: Names): Node | undefined {
  if (isOf(fn, "FunctionDeclaration")) return fn;
  const parent = names.parentOf(fn);
  return isOf(parent, "VariableDeclarator") && parent.init === fn ? parent : undefined;
}
