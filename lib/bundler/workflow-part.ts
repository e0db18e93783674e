import { type AuthorFile, SDK } from "./author-file.ts";
import { droppableValues } from "./droppable-values.ts";
import { applyEdits } from "./edits.ts";
import { blankedSpans, droppableWorkflows, scopedComposites, stepBodies } from "./sdk-calls.ts";
import { unusedDeclarations } from "./unused.ts";

/**
 * What of a file enters the sandbox: without the bodies of steps and what only they use. Every line
 * keeps its number, and all columns stay but those after something that was put in.
 */
export function workflowPart(
  file: AuthorFile,
  { isEntry }: Readonly<{ isEntry: boolean }>,
): string {
  const bodies = stepBodies(file);
  const alias = freshName(file.text);
  const composites = scopedComposites(file, alias);
  const unused = unusedDeclarations(file, blankedSpans(bodies));
  const text = applyEdits(file.text, [
    ...bodies,
    ...unused,
    ...composites,
    ...droppableValues(file),
    ...(isEntry ? [] : droppableWorkflows(file)),
  ]);
  if (!text.includes(alias)) return text;
  // An import counts wherever it stands: at the end it moves nothing.
  return `${text}\nimport { scope as ${alias} } from ${JSON.stringify(SDK)};`;
}

function freshName(text: string): string {
  let name = "__scope";
  while (text.includes(name)) name += "_";
  return name;
}
