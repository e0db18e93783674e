type Leave = { employee?: string; approved: boolean };

/** Tells the employee how it went. A real one would send a mail. */
export default async ({ employee = "Somebody", approved }: Leave) => ({
  told: `${employee}, your leave was ${approved ? "approved" : "refused"}.`,
});
