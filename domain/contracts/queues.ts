/** The task queues. They are separate so that one kind of work cannot delay another. */
export const queues = ['runs', 'documents', 'accounts', 'deletions'] as const
export type Queue = (typeof queues)[number]

/** The queue's name on the Temporal server. The prefix is empty except in tests that share a server. */
export function queueName(queue: Queue, prefix: string): string {
  return `${prefix}${queue}`
}
