// Calls and children. What must hold, whatever fails:
//
// 1. A call starts one instance, with the input of the call, and no other call does.
// 2. A call takes the outcome of its child, once, and not before the child has ended.
// 3. A child is cancelled by its caller only when its call is closed.
// 4. At rest no awaited child is live whose call is closed, and no call is open whose child is not live.

import type { Variables } from "../../../lib/definition/json.ts";
import { neverBegan } from "../../../lib/engine/rows/child.ts";
import { findTicket, isBatch, itemName, itemsOf } from "../../../lib/kernel/batch.ts";
import { gapsIn } from "../../../lib/kernel/bits.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import {
  type ChildTicket,
  type Instance,
  isTerminal,
  type Ticket,
  type TicketlessEffect,
} from "../../../lib/kernel/instance.ts";
import type { Program } from "../../../lib/kernel/runner.ts";
import type { Message } from "../../../lib/ports/message.ts";
import { must } from "./violation.ts";

/** The name of a step in a child that its parent has ordered. */
const BY_PARENT = "parent";
const REASON = "The call that waited for it was interrupted.";

type Lives = ReadonlyMap<string, Readonly<{ instance: Instance }>>;

export class CallTree {
  readonly #lives: Lives;
  readonly #programs: ReadonlyMap<string, Program>;
  /** Every call that was ever made, by its instance and ticket, and its input. */
  readonly #calls = new Map<string, Made>();
  readonly #children = new Map<string, string>();
  readonly #told = new Set<string>();

  constructor(lives: Lives, programs: ReadonlyMap<string, Program>) {
    this.#lives = lives;
    this.#programs = programs;
  }

  /** The instance that a ticket has started, or its tombstone. */
  childOf(parentId: string, ticket: string): Instance | undefined {
    return this.#live(this.#children.get(`${parentId} ${ticket}`));
  }

  /** The name of an instance in every run: a child's id depends on when its caller started. */
  nameOf(id: string): string {
    const { parent } = this.#live(id) ?? {};
    if (parent === undefined) return id;
    const call = this.#calls.get(`${parent.instanceId} ${parent.ticket}`);
    const { element = "", member } = call?.ticket ?? {};
    const place = member === undefined ? "" : `#${member}`;
    return `${this.nameOf(parent.instanceId)}/${element}${place}`;
  }

  /** Remembers the calls of an image, and its parent. */
  stored(instance: Instance): void {
    const { id, definition, parent } = instance;
    for (const ticket of callsIn(instance)) {
      const call = `${id} ${ticket.id}`;
      const runner = this.#programs.get(definition.hash)?.runner;
      if (runner === undefined || this.#calls.has(call)) continue;
      this.#calls.set(call, { ticket, variables: runner.callInput(instance, ticket) });
    }
    if (parent === undefined) return;
    const call = `${parent.instanceId} ${parent.ticket}`;
    const known = this.#children.get(call) ?? id;
    must(this.#calls.has(call), () => `${id} was started by ${call}, which was never made`);
    must(known === id, () => `${call} has started both ${known} and ${id}`);
    this.#children.set(call, id);
  }

  /** Facts that calls and children may deliver to an instance, by what has been stored. */
  factsFor(before: Instance, after: Instance): readonly Fact[] {
    return [
      ...this.#startOf(after),
      ...(this.#isCallGone(before) ? [CANCELLED] : []),
      ...callsIn(before).flatMap((ticket) => this.#factOf(before, ticket)),
    ];
  }

  /** Records a fact that an instance has taken, by rules 2 and 3. */
  taken(fact: Fact, after: Instance): void {
    if (fact.kind !== "child-ended" && fact.kind !== "child-started") return;
    must(!this.#told.has(fact.childId), () => `${after.id} was told twice of ${fact.childId}`);
    this.#told.add(fact.childId);
  }

  /** A tombstone belongs to a call that was made, and contains nothing else. */
  checkTombstone({ id, parent, version, outbox, tickets }: Instance): void {
    const call = `${parent?.instanceId} ${parent?.ticket}`;
    must(this.#calls.has(call), () => `${id} is the tombstone of ${call}, which was never made`);
    must(version === 1, () => `${id} has changed in its grave`);
    must(outbox.length + tickets.length === 0, () => `the tombstone ${id} owes something`);
  }

  /** Whether an effect from one instance to another was sent. */
  wasSent(id: string, effect: TicketlessEffect, queued: readonly Message[]): boolean {
    const instance = this.#live(id.slice(0, id.lastIndexOf(":")));
    if (instance === undefined) return false;
    if (effect.kind === "cancel-child") return this.#isCancelled(instance, effect.ticket, queued);
    if (effect.kind === "cancel-children") {
      return namesIn(effect).every(
        (name) => this.#isCancelled(instance, name, queued) || isPaged(instance.id, name, queued),
      );
    }
    const { instanceId = "", ticket = "" } = instance.parent ?? {};
    const isLooking = queued.some(
      (message) =>
        message.kind === "look" && message.instanceId === instanceId && message.ticket === ticket,
    );
    return isLooking || !isOpen(this.#live(instanceId), ticket);
  }

  /**
   * The instance whose message redelivers what was done here under this name, and its name there.
   */
  senderOf(instance: Instance, by: string): { instance: Instance; by: string } | undefined {
    const { parent } = instance;
    const sender =
      by === BY_PARENT ? this.#live(parent?.instanceId) : this.childOf(instance.id, by);
    const record = sender?.outbox.find(({ effect }) =>
      by === BY_PARENT
        ? parent !== undefined && namesIn(effect).includes(parent.ticket)
        : effect.kind === "notify-parent",
    );
    return sender && record?.lease && { instance: sender, by: record.lease.trigger };
  }

  /** Rule 4. */
  checkRest(): void {
    for (const { instance } of this.#lives.values()) {
      const { id, status, parent } = instance;
      const isOrphan =
        status === "live" && parent && !parent.detached && this.#isCallGone(instance);
      must(!isOrphan, () => `${id} is still live although its call is closed`);
      for (const ticket of callsIn(instance)) {
        const child = this.childOf(id, ticket.id);
        must(
          child?.status === "live" && !ticket.detached,
          () => `${ticket.id} of ${id} waits for a child that is ${child?.status ?? "not there"}`,
        );
      }
    }
  }

  #live(id: string | undefined): Instance | undefined {
    return id === undefined ? undefined : this.#lives.get(id)?.instance;
  }

  #startOf({ version, parent }: Instance): readonly Fact[] {
    if (version !== 1 || parent === undefined) return [];
    const call = this.#calls.get(`${parent.instanceId} ${parent.ticket}`);
    return call ? [{ kind: "started", input: { variables: call.variables } }] : [];
  }

  #isCallGone({ parent }: Instance): boolean {
    if (parent === undefined || parent.detached) return false;
    return !isOpen(this.#live(parent.instanceId), parent.ticket);
  }

  #isCancelled({ id }: Instance, ticket: string, queued: readonly Message[]): boolean {
    const child = this.childOf(id, ticket);
    if (child === undefined) return false;
    const isComing = queued.some(
      (message) =>
        message.kind === "parked" &&
        message.instanceId === child.id &&
        message.fact.kind === "cancel-requested",
    );
    return isComing || isTerminal(child);
  }

  #factOf({ id }: Instance, ticket: ChildTicket): readonly Fact[] {
    const child = this.childOf(id, ticket.id);
    if (child === undefined) return [];
    const childId = child.id;
    if (neverBegan(child)) {
      return [{ kind: "child-refused", ticket: ticket.id, message: child.error?.message ?? "" }];
    }
    if (ticket.detached) return [{ kind: "child-started", ticket: ticket.id, childId }];
    const { status, terminationKind, error } = child;
    if (status === "live" || terminationKind === undefined) return [];
    const result = this.#programs.get(child.definition.hash)?.runner.result(child);
    return [
      {
        kind: "child-ended",
        ticket: ticket.id,
        childId,
        status,
        terminationKind,
        ...(status === "succeeded" && result !== undefined && { result }),
        ...(error && { error }),
      },
    ];
  }
}

const CANCELLED: Fact = { kind: "cancel-requested", reason: REASON };

type Made = Readonly<{ ticket: ChildTicket; variables: Variables }>;

const isOpen = (instance: Instance | undefined, ticket: string): boolean =>
  instance !== undefined && findTicket(instance.tickets, ticket) !== undefined;

/** Every open call, including each item of a batch. */
const callsIn = ({ tickets }: Instance): readonly ChildTicket[] =>
  tickets
    .flatMap((ticket): readonly Ticket[] => (isBatch(ticket) ? itemsOf(ticket) : [ticket]))
    .filter((ticket) => ticket.on === "child");

/** The calls that a cancel effect is for. */
function namesIn(effect: TicketlessEffect): readonly string[] {
  if (effect.kind === "cancel-child") return [effect.ticket];
  if (effect.kind !== "cancel-children") return [];
  const { family, size, taken } = effect;
  return gapsIn(taken, size).map((member) => itemName(family, member));
}

const isPaged = (parentId: string, name: string, queued: readonly Message[]): boolean =>
  queued.some(
    (message) =>
      message.kind === "cancel-members" &&
      message.instanceId === parentId &&
      message.numbers.some((member) => itemName(message.ticket, member) === name),
  );

/** Whether a page is still queued that has ordered what was done here under this name. */
export const isPagedToCancel = (
  { parent }: Instance,
  by: string,
  queued: readonly Message[],
): boolean =>
  by === BY_PARENT && parent !== undefined && isPaged(parent.instanceId, parent.ticket, queued);
