import type { Instance, OutboxRecord, Ticket } from "../../kernel/instance.ts";
import type { Write } from "../../ports/store.ts";
import type { Image } from "../storage/stored-instance.ts";

/** Tickets and outbox records: what has to be sent after a commit. */
export type Entries = Readonly<{
  tickets: readonly Ticket[];
  outbox: readonly OutboxRecord[];
}>;

/** What a step makes of an instance: rows are put and removed by what it opens and closes. */
export type Change = Readonly<{
  before: Instance;
  /** As it will be once committed. */
  image: Image;
  /** What the step's waits stand on: written together with the instance, or not at all. */
  companions: readonly Write[];
  /** What this step newly owes. */
  fresh: Entries;
}>;
