/** The task queues. They are separate so that one kind of work cannot delay another. */
export const queues = ['runs', 'documents', 'accounts', 'deletions', 'schedules', 'crawls'] as const
export type Queue = (typeof queues)[number]

/** The queue's name on the Temporal server. The prefix is empty except in tests that share a server. */
export function queueName(queue: Queue, prefix: string): string {
  return `${prefix}${queue}`
}

/**
 * With versioned workers, what a new build means for a workflow under way. `PINNED`: it ends on the build that
 * began it; for workflows that end within hours. `AUTO_UPGRADE`: the new build continues it; for workflows
 * that may take longer. Their changes need `patched()`.
 */
export const versioningOf = {
  runs: 'AUTO_UPGRADE',
  documents: 'AUTO_UPGRADE',
  accounts: 'PINNED',
  deletions: 'PINNED',
  schedules: 'AUTO_UPGRADE',
  crawls: 'AUTO_UPGRADE',
} as const satisfies Record<Queue, string>
