import { parseExpression } from "feelin";
import { DIALECT } from "./borrowed.ts";
import { PARSE_CONTEXT } from "./functions.ts";
import { MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_LENGTH } from "./limits.ts";

/** A node of feelin's syntax tree. */
export type Syntax = ReturnType<typeof parseExpression>["topNode"];

/** Thrown for text that is no expression; the message says where it goes wrong. */
export class NotAnExpression extends Error {
  override readonly name = "NotAnExpression";
}

/** Parses a text into the tree of its one expression, or throws `NotAnExpression`. */
export function parseFeel(text: string): Syntax {
  if (text.length > MAX_EXPRESSION_LENGTH) {
    throw new NotAnExpression(
      `it has ${text.length} characters; at most ${MAX_EXPRESSION_LENGTH} are allowed`,
    );
  }
  if (text.trim() === "") throw new NotAnExpression("it is empty");
  const tree = parseExpression(text, PARSE_CONTEXT, DIALECT);
  let depth = 0;
  tree.iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) throw misread(text, from, to);
      depth += 1;
      if (depth > MAX_EXPRESSION_DEPTH) {
        throw new NotAnExpression(`it nests deeper than ${MAX_EXPRESSION_DEPTH} levels`);
      }
    },
    leave: () => {
      depth -= 1;
    },
  });
  return tree.topNode;
}

/** The children that mean something: comments are left out. */
export function partsOf(node: Syntax): readonly Syntax[] {
  const parts: Syntax[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (!child.type.isSkipped) parts.push(child);
  }
  return parts;
}

/** The first child of that kind. */
export function partNamed(node: Syntax, name: string): Syntax | undefined {
  return partsOf(node).find((part) => part.name === name);
}

function misread(text: string, from: number, to: number): NotAnExpression {
  if (from < to) {
    return new NotAnExpression(
      `"${shortened(text.slice(from, to))}" at character ${from + 1} does not belong there`,
    );
  }
  const rest = text.slice(from).trim();
  return new NotAnExpression(
    rest === ""
      ? "it ends too early"
      : `something is missing before "${shortened(rest)}" at character ${from + 1}`,
  );
}

function shortened(text: string): string {
  return text.length > 20 ? `${text.slice(0, 20)}…` : text;
}
