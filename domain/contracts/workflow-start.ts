/**
 * How long a worker may take over one workflow task. Short, because it is also how long the work of
 * a killed worker stays with it.
 */
export const workflowTaskTimeout = '2s' as const
