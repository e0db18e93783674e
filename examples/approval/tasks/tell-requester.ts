type Request = { requester?: string; what?: string; decision: string; decidedBy: string };

/** Informs the requester of the decision. A real handler would send a mail. */
export default async ({ requester, what, decision, decidedBy }: Request) => ({
  told: `${requester ?? "Somebody"}, your request for ${what ?? "something"} was ${decision} by ${decidedBy}.`,
});
