/**
 * The owner of files that belong to a project and to no assistant. No id of an assistant has a colon, so that nobody can
 * make an assistant which owns them.
 */
export const projectOwner = (projectId: string): string => `${mark}${projectId}`

/** The project that owns files under this name; undefined for an assistant or a vector store. */
export const projectOf = (owner: string): string | undefined =>
  owner.startsWith(mark) ? owner.slice(mark.length) : undefined

/** The condition that a file has bytes of its own. Entries of vector stores share those of a project's file. */
export const hasOwnBytes = { source_id: { $exists: false } } as const

const mark = 'project:'
