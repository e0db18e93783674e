// At rest: every list contains its tasks, no user got a task by a claim that was made once and
// taken twice, and no row points to nothing for ever.
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { TaskFilter } from "../../../lib/shapes/tasks.ts";
import type { SimulatedWorld } from "../world/world.ts";
import type { Life } from "./life.ts";
import { deadRows, missingRows } from "./user-task-rows.ts";
import { must } from "./violation.ts";

export async function checkUserTasks(world: SimulatedWorld): Promise<void> {
  const { stage, backends } = world;
  const lives = [...stage.invariants.lives.values()];
  const instances = lives.map(({ instance }) => instance);
  for (const life of lives) checkClaims(life, stage.scenario.maxClaims ?? {});
  checkFindable(world, instances);
  // A slow actor may leave a dead row; reading the list removes it.
  const dead = deadRows(instances, backends.store.items());
  for (const { list } of dead) await comeAlong(world, list);
  const left = deadRows(instances, backends.store.items());
  must(
    left.length === 0,
    () => `rows point to nothing: ${left.map(({ name }) => name).join(", ")}`,
  );
  checkFindable(world, instances);
}

function checkFindable({ backends }: SimulatedWorld, instances: readonly Instance[]): void {
  for (const instance of instances) {
    for (const ticket of instance.tickets) {
      if (ticket.on !== "task") continue;
      const missing = missingRows(instance, ticket, backends.store.items());
      must(
        missing.length === 0,
        () => `${ticket.id} of ${instance.id} is not found by ${missing.join(", ")}`,
      );
    }
  }
}

/** No user got a task more often than they claimed one. */
function checkClaims({ instance, trail }: Life, most: Readonly<Record<string, number>>): void {
  for (const [user, calls] of Object.entries(most)) {
    const times = [...trail.values()].filter(
      ({ type, data }) =>
        type === "task-assigned" && JSON.stringify(data) === JSON.stringify({ assignee: user }),
    ).length;
    must(times <= calls, () => `${user} got ${instance.id} ${times}x and asked ${calls}x`);
  }
}

async function comeAlong(world: SimulatedWorld, list: string): Promise<void> {
  const [kind, name = ""] = list.split("#");
  const filter: TaskFilter =
    kind === "a"
      ? { assignee: name }
      : kind === "u"
        ? { candidateUser: name }
        : kind === "g"
          ? { candidateGroup: name }
          : { state: "created" };
  await world.observer().engine.tasks(filter, { limit: 100 });
}
