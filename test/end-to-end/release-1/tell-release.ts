/** Reports which release of the handlers runs. */
export default async () => ({ release: 1 });
