import type { Invocation } from "../../ports/message.ts";
import type { FailedDelivery } from "../engine.ts";

/** How a row fared. A call delivers on its own, and leaves what is owed to the bus's copy. */
export type Fared = Readonly<
  | { kind: "delivered" | "started" | "skipped" | "expired" | "not-meant" }
  | { kind: "failed"; failed: FailedDelivery }
  | { kind: "later"; ms: number }
>;

/** Who delivers: an invocation that sends what is owed, or a call that does not. */
export type Deliverer = Invocation | "call";
