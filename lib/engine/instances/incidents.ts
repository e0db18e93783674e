/**
 * Open incidents of all instances, read from the views of those that have any. A page may end in the
 * middle of an instance: its cursor then says behind which incident it goes on.
 */
import type { IncidentTicket, Instance } from "../../kernel/instance.ts";
import type { FoundIncident, IncidentFilter } from "../../shapes/bulk.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { defined } from "../storage/defined.ts";
import { instanceOrder } from "../storage/keys.ts";
import { compareTickets } from "../storage/names.ts";
import type { World } from "../world.ts";
import { goingOn, placeIn } from "./filter.ts";
import { readPage } from "./listing.ts";
import { isIncident, viewIncident } from "./views.ts";

export async function listIncidents(
  world: World,
  filter: IncidentFilter,
  page: PageRequest,
): Promise<Listed<FoundIncident>> {
  const { found, next } = await findIncidents(world, filter, page);
  return { items: found.map(({ item }) => item), ...goingOn(world, incidentList(filter), next) };
}

/** The list that the cursors of incidents name. */
export const incidentList = (filter: IncidentFilter) => ({ list: "incidents", filter });

/** Something that a list shows, and its place: a list that goes on behind it begins with the next. */
export type Placed<T> = Readonly<{ item: T; place: string }>;

/** A page of incidents, and behind which place there may be more; no place: that was all. */
export async function findIncidents(
  world: World,
  filter: IncidentFilter,
  page: PageRequest,
): Promise<Readonly<{ found: readonly Placed<FoundIncident>[]; next?: string }>> {
  const { type: _type, element: _element, ...ofInstances } = filter;
  const place = parsePlace(placeIn(world, incidentList(filter), page.cursor));
  const { images, last } = await readPage(world, {
    filter: { ...ofInstances, incident: true },
    behind: place.behind,
    limit: page.limit,
    wants: (instance) => wantedOf(instance, filter, place).length > 0,
  });
  const all = images.flatMap(({ instance }) => {
    const { id: instanceId, definition, businessKey } = instance;
    const { id, version } = definition;
    const about = { instanceId, definition: { id, version }, ...defined({ businessKey }) };
    return wantedOf(instance, filter, place).map((ticket) => ({
      item: { ...viewIncident(ticket), ...about },
      place: `${instanceOrder(instance)}@${ticket.id}`,
    }));
  });
  const found = all.slice(0, page.limit);
  const next = found.length < all.length ? found.at(-1)?.place : last;
  return { found, ...defined({ next }) };
}

/** Behind which instance to go on; or within which, and behind which of its incidents. */
type Place = Readonly<{ behind: string | undefined; within?: string; after?: string }>;

function parsePlace(place: string | undefined): Place {
  const [within, after] = place?.split("@") ?? [];
  if (within === undefined || after === undefined) return { behind: place };
  // No id holds a character as low as this one: nothing stands between an order and this.
  return { behind: `${within}!`, within, after };
}

function wantedOf(
  instance: Instance,
  { type, element }: IncidentFilter,
  { within, after }: Place,
): readonly IncidentTicket[] {
  const isWithin = after !== undefined && instanceOrder(instance) === within;
  return instance.tickets
    .filter(isIncident)
    .filter((ticket) => type === undefined || ticket.type === type)
    .filter((ticket) => element === undefined || ticket.element === element)
    .sort((a, b) => compareTickets(a.id, b.id))
    .filter(({ id }) => !isWithin || compareTickets(id, after) > 0);
}
