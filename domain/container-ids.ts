/**
 * Ids of containers and their files on `/v1`. Every thread is the container of its own session; a container that was made
 * by itself is a thread, too, which is in no list of threads.
 */
export const containerId = (threadId: string): string => `cntr_${threadId}`

/** The thread that is the container; undefined if it is the id of something else. */
export const threadOfContainer = (id: string): string | undefined =>
  id.startsWith('cntr_') ? id.slice('cntr_'.length) : undefined

/** A file of a thread, as a file of its container. Files of containers that were made by themselves are stored by this id. */
export const containerFileId = (attachmentId: string): string =>
  attachmentId.startsWith('cfile_') ? attachmentId : `cfile_${attachmentId}`

/** The ids under which a file of a container can be stored. */
export const storedFileIds = (fileId: string): string[] =>
  fileId.startsWith('cfile_') ? [fileId, fileId.slice('cfile_'.length)] : []
