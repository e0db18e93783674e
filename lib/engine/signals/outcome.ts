import type { Invocation } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import type { FailedDelivery } from "../shapes/signals.ts";

/** How a row fared; `dead` is the row itself, where it may go now. A call delivers on its own, and leaves what is owed to the bus's copy. */
export type Outcome = Readonly<
  | { kind: "delivered" | "started" | "skipped" | "expired" | "not-meant"; dead?: Key }
  | { kind: "failed"; failed: FailedDelivery; dead?: Key }
  | { kind: "later"; ms: number }
>;

/** Who delivers: an invocation that sends what is owed, or a call that does not. */
export type Deliverer = Invocation | "call";
