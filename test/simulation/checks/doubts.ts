// Incidents for unknown outcomes of exclusive tasks: not while the lease of the run that claimed
// them has not expired. A task's claim is in its ticket, that of an item of a batch in a separate
// item of the store.
import { inDoubt } from "../../../lib/engine/drive/claim.ts";
import { parseBody } from "../../../lib/engine/storage/formats.ts";
import { instancePk, itemClaimKey } from "../../../lib/engine/storage/keys.ts";
import { findTicket } from "../../../lib/kernel/batch.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Instance, TaskTicket } from "../../../lib/kernel/instance.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { must } from "./violation.ts";

/** `now` is the latest time that any clock has shown. */
export function checkDoubt(
  fact: Extract<Fact, { kind: "task-failed" }>,
  before: Instance,
  { now, items }: Readonly<{ now: number; items: readonly Item[] }>,
): void {
  const task = findTicket(before.tickets, fact.ticket);
  if (task?.on !== "task" || fact.message !== inDoubt(task).message) return;
  const until =
    task.member === undefined
      ? leaseOf(task)
      : memberLease(before, fact.ticket, fact.attempt, items);
  must(
    now >= until,
    () => `${task.id} of ${before.id} is in doubt ${until - now} ms before its run is over`,
  );
}

const leaseOf = ({ claim, lease }: TaskTicket): number =>
  claim !== undefined && lease?.owner === claim ? lease.expiresAt : 0;

function memberLease(
  { tenant, id }: Instance,
  member: string,
  attempt: number,
  items: readonly Item[],
): number {
  const { pk, sk } = itemClaimKey(instancePk(tenant, id), member, attempt);
  const claim = items.find(({ key }) => key.pk === pk && key.sk === sk);
  must(claim !== undefined, () => `${member} of ${id} has an unknown outcome without a claim`);
  return (parseBody("member-claim", claim?.body ?? new Uint8Array()) as { until: number }).until;
}
