type Request = { requester?: string; what?: string; decision: string; decidedBy: string };

/** Tells the requester how it went. A real one would send a mail. */
export default async ({ requester, what, decision, decidedBy }: Request) => ({
  told: `${requester ?? "Somebody"}, your request for ${what ?? "something"} was ${decision} by ${decidedBy}.`,
});
