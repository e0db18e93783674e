// Where the rows of user tasks must be, by the rules alone: the engine is not used here.
import { type Instance, isTerminal, type TaskTicket } from "../../../lib/kernel/instance.ts";
import type { Item } from "../../../lib/ports/store.ts";

/** Every list that must contain this task. */
export function listsOf(tenant: string, { person }: TaskTicket): readonly string[] {
  if (person === undefined) return [];
  const { assignee, users = [], groups = [] } = person;
  return [
    ...(assignee === undefined ? [] : [`a#${assignee}`]),
    ...users.map((name) => `u#${name}`),
    ...groups.map((name) => `g#${name}`),
    "all",
  ].map((list) => `${tenant}#U#${list}`);
}

/** Lists that lack a task that they should contain. */
export function missingRows(
  { tenant, id }: Pick<Instance, "tenant" | "id">,
  task: TaskTicket,
  items: readonly Item[],
): readonly string[] {
  const isThere = (list: string) =>
    items.some(({ key }) => key.pk === list && key.sk.endsWith(`#${id}#${task.id}`));
  return listsOf(tenant, task).filter((list) => !isThere(list));
}

/** The list and the task of each row without an open task. */
export function deadRows(
  instances: readonly Instance[],
  items: readonly Item[],
): readonly Readonly<{ list: string; name: string }>[] {
  const live = new Set(
    instances
      .filter((instance) => !isTerminal(instance))
      .flatMap(({ tenant, id, tickets }) =>
        tickets.flatMap((ticket) =>
          ticket.on === "task"
            ? listsOf(tenant, ticket).map((list) => `${list} ${id} ${ticket.id}`)
            : [],
        ),
      ),
  );
  return items.flatMap(({ key: { pk, sk } }) => {
    if (pk.split("#")[1] !== "U") return [];
    const [, id = "", ticket = ""] = sk.split("#");
    const name = `${pk} ${id} ${ticket}`;
    return live.has(name) ? [] : [{ list: pk.split("#").slice(2).join("#"), name }];
  });
}
