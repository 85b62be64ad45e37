/** The task queues: apart, so that a flood of one kind of work never slows another. */
export const queues = ['runs', 'documents', 'accounts', 'deletions'] as const
export type Queue = (typeof queues)[number]

/** The queue's name on the Temporal server. The prefix is empty but in tests that share a server. */
export function queueName(queue: Queue, prefix: string): string {
  return `${prefix}${queue}`
}
