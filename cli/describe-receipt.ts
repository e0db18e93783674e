import type { ReceiptView } from "../lib/client/index.ts";

/** The receipt of a broadcast, as named facts. */
export function receiptFacts(
  receipt: ReceiptView,
): readonly (readonly [name: string, value: string])[] {
  const { broadcastId, kind, name, acceptedAt, complete, failed } = receipt;
  return [
    ["broadcast", broadcastId],
    [kind, name],
    ["accepted", acceptedAt],
    ["complete", complete ? "yes" : "no, delivery continues and the counts grow"],
    ["matched", String(receipt.matched)],
    ["delivered", String(receipt.delivered)],
    ["started", String(receipt.started)],
    ["skipped", String(receipt.skipped)],
    ["expired", String(receipt.expired)],
    ["failed", String(failed.length)],
    ...failed.map(({ instanceId, incidentId, message }) => {
      const incident = incidentId === undefined ? "" : `, incident ${incidentId}`;
      return ["failed at", `${instanceId}${incident}: ${message}`] as const;
    }),
  ];
}
