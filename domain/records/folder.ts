import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, archiveLine, declareRecord } from './declared-record.ts'

/** A list of all folders of a user is one answer. Instructions fit into those of a run beside its own. */
export const folderLimits = { folders: 100, nameLength: 80, instructionsLength: 8000, files: 50 } as const

/** A person's folder of chats in a project, with what holds in all of them. */
const Folder = Type.Object({
  _id: StoredId,
  user_id: StoredId,
  project_id: StoredId,
  /** Several may have the same. */
  name: Type.String({ minLength: 1, maxLength: folderLimits.nameLength }),
  /** What the model is told in its chats; absent: nothing. */
  instructions: Type.Optional(Type.String({ maxLength: folderLimits.instructionsLength })),
  /** Made with its first file: what is searched in its chats. */
  vector_store_id: Type.Optional(StoredId),
  created_at: StoredTime,
  updated_at: StoredTime,
})

const line = archiveLine(Folder, {
  id: 'folder_id',
  members: ['project_id', 'name', 'instructions', 'vector_store_id', 'created_at'],
})

export const folderRecord = declareRecord({
  model: 'Folder',
  collection: 'folders',
  schema: Folder,
  owners: ['user_id', 'project_id'],
  indexes: [[{ user_id: 1, project_id: 1, name: 1 }], [{ project_id: 1 }]],
  archive: line,
})
export type FolderRecord = RecordOf<typeof folderRecord>
