/** Instances that wait for users, workers, children and items of a batch while code changes. */
import { assignment, extensions, job, loop, person, xml } from "./bpmn-xml.ts";
import { chain, client, eventually, fresh, task } from "./deployed.ts";

/** What an instance may be waiting for while the code is replaced. */
export type Parked = Readonly<{
  waitsFor: string;
  /** What is between its start and the task that reports which code ran it. */
  element: string;
  beside?: readonly string[];
  kind: string;
  /** What must exist before it starts, and what is done with it before the change. */
  before?(): Promise<unknown>;
  begin?(instanceId: string): Promise<unknown>;
  wake?(instanceId: string, release: number): Promise<unknown>;
  variables?: Readonly<Record<string, string>>;
}>;

const group = fresh("sales");
const called = fresh("called");
const carry = fresh("carry");
const pack = fresh("pack");
const pay = fresh("pay");
const MEMBERS = 12;

/** Lock tokens of tasks that a worker has had since before the change. */
const locks = new Map<string, string>();

const tasksOf = async (instanceId: string) =>
  (await client.tasks({ instanceId, limit: 50 })).items.map(({ taskId }) => taskId);

const firstOf = (what: string, instanceId: string): Promise<string> =>
  eventually(what, async () => (await tasksOf(instanceId))[0]);

export const PARKED_OUTSIDE: readonly Parked[] = [
  {
    waitsFor: "a user who has claimed its task",
    element: person("approve", assignment({ candidateGroups: group })),
    kind: "task",
    begin: async (instanceId) => {
      await client.claimTask(await firstOf("a user task", instanceId), { user: "anna" });
    },
    wake: async () => {
      const { items } = await client.tasks({ assignee: "anna", candidateGroup: group });
      await client.completeTask(items[0]?.taskId ?? "", { user: "anna" });
    },
  },
  {
    waitsFor: "a worker that has its task under a lock",
    element: task("carry", carry),
    kind: "task",
    begin: async () => {
      const { taskId, lockToken } = await eventually("a task to lock", async () => {
        const request = { type: carry, max: 1, lockSeconds: 3_600, worker: "w" };
        return (await client.activate(request)).tasks[0];
      });
      locks.set(taskId, lockToken);
    },
    wake: async (instanceId) => {
      const taskId = await firstOf("the locked task", instanceId);
      await client.completeTask(taskId, { lockToken: locks.get(taskId) ?? "" });
    },
  },
  {
    waitsFor: "a child",
    element: xml(
      "callActivity",
      { id: "call" },
      extensions(xml("zeebe:calledElement", { processId: called })),
    ),
    kind: "child",
    before: () => client.deploy(chain(called, [task("pay", pay)])),
    wake: async (instanceId) => {
      const { items } = await client.waits(instanceId);
      const child = items[0]?.childInstanceId ?? "";
      await client.completeTask(await firstOf("the child's task", child));
    },
  },
  {
    waitsFor: "the remaining items of a batch",
    element: xml(
      "serviceTask",
      { id: "each" },
      extensions(job(pack)),
      loop({
        inputCollection: `=for n in 1..${MEMBERS} return n`,
        inputElement: "item",
        outputCollection: "results",
        outputElement: "=done",
      }),
    ),
    kind: "task",
    begin: async (instanceId) => {
      await firstOf("members", instanceId);
      const some = (await tasksOf(instanceId)).slice(0, 5);
      for (const taskId of some)
        await client.completeTask(taskId, { variables: { done: "before" } });
    },
    wake: async (instanceId) => {
      await eventually("every item to be completed", async () => {
        const open = await tasksOf(instanceId);
        const members = open.filter((taskId) => taskId.includes("#"));
        for (const taskId of members) {
          await client.completeTask(taskId, { variables: { done: "after" } });
        }
        return members.length === 0;
      });
    },
  },
];
