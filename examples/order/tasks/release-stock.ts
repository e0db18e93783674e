/** Releases the reserved goods; safe to run twice, as a task may. */
export default async () => ({ reservation: null });
