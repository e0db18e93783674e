/**
 * How the members of a family leave.
 *
 * 1. The family's ticket is the entry: whoever owes it sends every member whose bit is not set, and
 *    may do so again. A task that is sent twice runs twice at most, and counts once; a child that is
 *    begun twice is one, since its id comes from the member's name.
 * 2. Many members are sent by page. A page is a trigger of its own: it stays queued until its
 *    members have left, and says nothing but which they are. What is open the instance says.
 */
import { MEMBERS_PER_PAGE } from "../../definition/limits.ts";
import { familyNamed, isFamily, type Member, membersOf, openIn } from "../../kernel/family.ts";
import type { FamilyTicket, Instance, Ticket } from "../../kernel/instance.ts";
import type { MembersMessage, Verdict } from "../../ports/message.ts";
import { runsHere } from "../owed.ts";
import { someAtOnce } from "../some-at-once.ts";
import { loadInstance } from "../stored-instance.ts";
import { taskMessage } from "../task-message.ts";
import { offerTask } from "../workers/offer-task.ts";
import type { World } from "../world.ts";

/** Sends every open member, or the pages that will. */
export async function sendFamily(
  world: World,
  instance: Instance,
  family: FamilyTicket,
  how: "first" | "again",
): Promise<void> {
  if (!isSentByPage(world, family)) {
    await sendMembers(world, instance, membersOf(family), how);
    return;
  }
  const perPage = pageSizeIn(world);
  const { tenant, id: instanceId } = instance;
  for (let from = 0; from < family.size; from += perPage) {
    const to = Math.min(family.size, from + perPage);
    await world.pages.send({ kind: "members", tenant, instanceId, ticket: family.id, from, to });
  }
}

/** Whether this is a family with more open members than whoever owes it sends himself. */
export const isSentByPage = (world: World, ticket: Ticket): boolean =>
  isFamily(ticket) && openIn(ticket) > pageSizeIn(world);

/** How many members one message sends. */
export const pageSizeIn = ({ settings }: World): number =>
  settings.membersPerPage ?? MEMBERS_PER_PAGE;

/** Sends the open members of one page; then the page may go. */
export async function sendPage(
  world: World,
  { instanceId, ticket, from, to }: MembersMessage,
): Promise<Verdict> {
  const image = await loadInstance(world, instanceId);
  const family = image && familyNamed(image.instance.tickets, ticket);
  if (image === undefined || family === undefined) return "release";
  // The page may have come before: nobody can tell what it has sent then.
  await sendMembers(world, image.instance, membersOf(family, { from, to }), "again");
  return "release";
}

/**
 * Sends these members, each as the task or the call that it is; says for how many calls there was
 * anything to do.
 */
export async function sendMembers(
  world: World,
  instance: Instance,
  members: readonly Member[],
  how: "first" | "again",
): Promise<number> {
  const begun = await someAtOnce(members, async (member) => {
    if (member.on === "child") return world.children?.start(world, instance, member);
    if (runsHere(world, member)) await world.tasks.send(taskMessage(instance, member));
    else await offerTask(world, instance, member, how);
    return false;
  });
  return begun.filter((isBegun) => isBegun).length;
}
