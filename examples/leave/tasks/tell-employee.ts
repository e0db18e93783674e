type Leave = { employee?: string; approved: boolean };

/** Informs the employee of the decision. A real handler would send a mail. */
export default async ({ employee = "Somebody", approved }: Leave) => ({
  told: `${employee}, your leave was ${approved ? "approved" : "refused"}.`,
});
