import type { ClientSession } from 'mongoose'

/**
 * Runs `work` in one database transaction, for all writes that get the session. `work` is repeated when another
 * transaction wrote the same documents, so it must have no other side effects. An error that it throws rolls
 * everything back and is rethrown.
 */
export type RunInTransaction = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>
