import type { Downloads } from '../attachments/downloads.ts'
import type { PartSources } from '../attachments/read-part.ts'
import type { createProjectFiles } from '../knowledge/project-files.ts'
import type { Caller } from '../owner.ts'

export interface PartSourcesDeps {
  downloads: Downloads
  files: Pick<ReturnType<typeof createProjectFiles>, 'content'>
}

/** Reads messages of a caller, whose parts may name files of the project. */
export function withPartSources<T>(
  { downloads, files }: PartSourcesDeps,
  caller: Caller,
  read: (sources: PartSources) => Promise<T>,
): Promise<T> {
  return downloads.within(caller.userId, (download) =>
    read({
      download,
      openFile: async (fileId) => {
        const { file, bytes } = await files.content(caller, fileId)
        return { name: file.name, size: file.size, bytes }
      },
    }),
  )
}
