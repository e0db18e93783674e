type Leave = { reminders?: number };

/** Reminds the managers. Counting from what it was given makes a second run count the same. */
export default async ({ reminders = 0 }: Leave) => ({ reminders: reminders + 1 });
