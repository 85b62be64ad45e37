import type { Caller } from '../assistants/write-assistants.ts'
import type { PartSources } from '../attachments/read-part.ts'
import type { createProjectFiles } from '../knowledge/project-files.ts'

export interface PartSourcesDeps {
  partSources: PartSources
  files: Pick<ReturnType<typeof createProjectFiles>, 'content'>
}

/** Where parts of a caller's messages come from: they may name files of the project. */
export function partSourcesOf({ partSources, files }: PartSourcesDeps, caller: Caller): PartSources {
  return {
    ...partSources,
    openFile: async (fileId) => {
      const { file, bytes } = await files.content(caller, fileId)
      return { name: file.name, size: file.size, bytes }
    },
  }
}
