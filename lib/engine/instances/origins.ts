/** Where in the author's files the operations of a workflow in code stand. */
import type { Origin, Origins } from "../../definition/sandbox.ts";
import type { InstanceError } from "../../kernel/ending.ts";
import type { Ticket } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import type { FailureView, IncidentView, InstanceView, WaitView } from "../../shapes/instances.ts";
import { defined } from "../storage/defined.ts";
import { perWorld } from "../storage/in-process.ts";
import { readSource } from "../storage/programs.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { isIncident } from "./views.ts";

/** The view of an instance, with source lines; of a graph it stays as it is. */
export async function withOrigins(
  world: World,
  image: Image,
  view: InstanceView,
): Promise<InstanceView> {
  const origins = await originsOf(world, image.program);
  if (origins === undefined) return view;
  const { error } = view;
  return {
    ...view,
    waits: placeWaits(origins, image, view.waits),
    incidents: placeIncidents(origins, image, view.incidents),
    ...(error && { error: withStack(origins, error) }),
  };
}

/** Waits, in the order of the tickets that they stand for. */
export async function waitsWithOrigins(
  world: World,
  image: Image,
  waits: readonly WaitView[],
): Promise<readonly WaitView[]> {
  const origins = await originsOf(world, image.program);
  return origins ? placeWaits(origins, image, waits) : waits;
}

/** The error of an ended instance, with a stack that names the author's files. */
export async function errorWithOrigins<V extends Readonly<{ error?: FailureView }>>(
  world: World,
  { program }: Image,
  view: V,
): Promise<V> {
  const origins = view.error?.stack === undefined ? undefined : await originsOf(world, program);
  return origins && view.error ? { ...view, error: withStack(origins, view.error) } : view;
}

function placeWaits(
  origins: Origins,
  image: Image,
  waits: readonly WaitView[],
): readonly WaitView[] {
  const originOf = originIn(origins, image);
  return waits.map((wait, n) => {
    const ticket = image.instance.tickets[n];
    return { ...wait, ...defined({ at: ticket && originOf(ticket) }) };
  });
}

/** Incidents, in the order of the tickets that they are. */
function placeIncidents(
  origins: Origins,
  image: Image,
  incidents: readonly IncidentView[],
): readonly IncidentView[] {
  const originOf = originIn(origins, image);
  const places = image.instance.tickets.filter(isIncident).map(originOf);
  return incidents.map((incident, n) => ({ ...incident, ...defined({ at: places[n] }) }));
}

/** An incident that is about an operation stands there, all others where theirs was called. */
function originIn(origins: Origins, { instance, program }: Image) {
  const { sites } = program.runner.view(instance);
  return (ticket: Ticket): Origin | undefined => {
    const site = (ticket.on === "incident" ? ticket.site : undefined) ?? sites?.get(ticket.ref);
    return site && origins.originalOf(...site);
  };
}

const withStack = <E extends Pick<InstanceError, "stack">>(origins: Origins, error: E): E =>
  error.stack === undefined ? error : { ...error, stack: origins.stackOf(error.stack) };

/** Bundles never change, so what was read of one is kept. */
async function originsOf(world: World, { definition }: Program): Promise<Origins | undefined> {
  if (definition.body.runner !== "code" || world.origins === undefined) return undefined;
  const known = originsIn(world).get(definition.hash);
  if (known) return known;
  const origins = world.origins(await readSource(world, definition));
  const kept = originsIn(world);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
  kept.set(definition.hash, origins);
  return origins;
}

const MAX_KEPT = 50;
const originsIn = perWorld(() => new Map<string, Origins>());
