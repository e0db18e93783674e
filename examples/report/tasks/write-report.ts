type Report = { period: "day" | "month" };

/** Writes the report of a day or of a month; a real handler would query the accounts. */
export default async ({ period }: Report) => ({ title: `Report of the ${period}` });
