import type { TaskFilter, TaskView } from "../../lib/client/index.ts";
import { command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listUpTo } from "../list-up-to.ts";
import { parseChoice } from "../parse-choice.ts";
import { parseWholeNumber } from "../parse-whole-number.ts";
import { printList } from "../print-list.ts";
import { clientFor, SERVER_OPTIONS } from "../server.ts";

/** Lists open tasks, oldest first: user tasks and tasks for workers. */
export const tasks = command({
  name: "tasks",
  summary: "list open tasks, oldest first",
  operands: [],
  options: {
    assignee: { type: "string", value: "USER", help: "user tasks assigned to this user" },
    user: { type: "string", value: "USER", help: "user tasks with this candidate user" },
    group: { type: "string", value: "GROUP", help: "user tasks with this candidate group" },
    state: { type: "string", value: "STATE", help: "user tasks that are created or claimed" },
    overdue: { type: "boolean", help: "user tasks whose due date has passed" },
    type: { type: "string", value: "TYPE", help: "only those of this task type" },
    instance: { type: "string", value: "ID", help: "only those of this instance" },
    limit: { type: "string", value: "N", help: "the maximum number; default 50" },
    ...SERVER_OPTIONS,
  },
  run: async ({ values, terminal }) => {
    const limit = parseWholeNumber(values.limit ?? "50", { option: "limit", min: 1, max: 10_000 });
    const { state } = values;
    const filter: TaskFilter = {
      ...(values.assignee !== undefined && { assignee: values.assignee }),
      ...(values.user !== undefined && { candidateUser: values.user }),
      ...(values.group !== undefined && { candidateGroup: values.group }),
      ...(state !== undefined && {
        state: parseChoice(state, { option: "state", choices: STATES }),
      }),
      ...(values.overdue && { overdue: true }),
      ...(values.type !== undefined && { type: values.type }),
      ...(values.instance !== undefined && { instanceId: values.instance }),
    };
    const client = clientFor(values, terminal);
    const list = await listUpTo(limit, (page) => client.tasks({ ...filter, ...page }));
    printList(terminal, list, { json: values.json, headings: HEADINGS, rowOf });
    return EXIT.ok;
  },
});

const STATES = ["created", "claimed"] as const;

const HEADINGS = ["TASK", "ELEMENT", "DEFINITION", "FOR", "DUE", "CREATED"];

function rowOf(task: TaskView): readonly string[] {
  const { taskId, element, definition, dueDate = "", createdAt } = task;
  return [
    taskId,
    element,
    `${definition.id} v${definition.version}`,
    whoDoes(task),
    dueDate,
    createdAt,
  ];
}

/** The assignee or the candidates, or the type of worker. */
function whoDoes({ state, assignee, candidateUsers = [], candidateGroups = [], type }: TaskView) {
  if (state === undefined) return `worker ${type}`;
  if (assignee !== undefined) return assignee;
  const names = [...candidateUsers, ...candidateGroups.map((group) => `group ${group}`)];
  return names.length === 0 ? "any user" : names.join(", ");
}
