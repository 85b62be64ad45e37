import type { ClientSession } from 'mongoose'

/**
 * Runs `work` in one transaction of the database: every write that is given the session stands or
 * falls with the others. `work` is run again when another transaction wrote the same documents, so
 * it must have no other side effects. An error that it throws undoes everything and is thrown on.
 */
export type RunInTransaction = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>
