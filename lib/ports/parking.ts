import type { AnyParked } from "./message.ts";

/**
 * A queue that holds facts for contended instances and for requests. It delivers at least once; it
 * tries to keep the order of one instance, but nothing may rely on that.
 */
export interface Parking {
  park(message: AnyParked): Promise<void>;
}
