type Report = { period: "day" | "month" };

/** Writes the report of a day or of a month; a real one would look into the books. */
export default async ({ period }: Report) => ({ title: `Report of the ${period}` });
