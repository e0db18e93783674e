import type { ReceiptView } from "../lib/client/index.ts";

/** What became of a broadcast, as facts under their names. */
export function receiptFacts(
  receipt: ReceiptView,
): readonly (readonly [name: string, value: string])[] {
  const { broadcastId, kind, name, acceptedAt, complete, failed } = receipt;
  return [
    ["broadcast", broadcastId],
    [kind, name],
    ["accepted", acceptedAt],
    ["complete", complete ? "yes" : "no, it is on its way and the counts grow"],
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
