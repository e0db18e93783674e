import type { Notice } from "../kernel/instance.ts";

/** Tells outsiders what happens; at least once, so they dedupe by `id`. */
export interface Bus {
  announce(announcement: Announcement): Promise<void>;
}

export type Announcement = Readonly<{
  id: string;
  tenant: string;
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  notice: Notice;
}>;
