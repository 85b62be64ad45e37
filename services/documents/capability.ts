import type { Restores } from '../capability.ts'
import type { Documents } from './index.ts'

/** What others need of documents; their collection, owners and lines in archives are with their record. */
export const documentsCapability = {
  /** Those whose thread was not imported are refused. */
  restore: ({ documents: { restore } }: { documents: Pick<Documents, 'restore'> }): Pick<Restores, 'documents'> => ({
    documents: (userId, { version_id: id, thread_id: threadId, created_at: made, ...line }, idOf) =>
      restore(userId, {
        ...line,
        _id: idOf('document', id),
        thread_id: idOf('thread', threadId),
        created_at: new Date(made),
      }),
  }),
}
