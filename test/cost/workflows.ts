import { end, file, flow, service, start, xml } from "../support/bpmn-xml.ts";

/** A file with one process whose elements follow each other; `beside` are its signals and messages. */
export function inARow(id: string, elements: readonly string[], ...beside: string[]): string {
  const ids = ["start", ...elements.map(idOf), "end"];
  const flows = ids.slice(1).map((to, n) => flow(`f${n}`, ids[n] ?? "", to));
  const process = xml(
    "process",
    { id, isExecutable: "true" },
    start(),
    ...elements,
    end(),
    ...flows,
  );
  return file(process, ...beside);
}

/** The workflow of the cost figures: ten tasks, one after the other. */
export function tenTasks(): string {
  const tasks = Array.from({ length: 10 }, (_, n) => service(`step-${n + 1}`));
  return inARow("ten", tasks);
}

const idOf = (element: string): string => /id="([^"]*)"/.exec(element)?.[1] ?? "";
