/** Whether queues outlive a process. */
export type Mode = "durable" | "memory";
