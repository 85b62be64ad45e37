import type { Restores } from '../capability.ts'
import type { Folders } from './index.ts'

/** What others need of folders; their collection, owners and lines in archives are with their record. */
export const foldersCapability = {
  /** Folders beyond what an account may have are refused; their chats come without one. */
  restore: ({ folders: { restore } }: { folders: Pick<Folders, 'restore'> }): Pick<Restores, 'folders'> => ({
    folders: (userId, { folder_id: id, vector_store_id: storeId, created_at: made, ...line }, idOf) =>
      restore({
        ...line,
        ...(storeId === undefined ? {} : { vector_store_id: idOf('assistant', storeId) }),
        _id: idOf('folder', id),
        user_id: userId,
        project_id: idOf('project', line.project_id),
        created_at: new Date(made),
      }),
  }),
}
