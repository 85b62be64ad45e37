import { buffer } from 'node:stream/consumers'
import { ifFound } from '../../domain/errors.ts'
import { sessionPath } from '../../domain/session-path.ts'
import type { Collections } from '../collections.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { Caller } from '../owner.ts'
import { attachmentStore } from '../stores/attachments.ts'
import type { IsKnown, SessionFile } from './interpreter.ts'

/** What a session is given of its files; older ones are left out. */
const maxSessionBytes = 32 * 1024 * 1024
const maxListed = 1000

export interface SessionFilesDeps {
  collections: Pick<Collections, 'attachments'>
  projectFiles: Pick<ProjectFiles, 'find' | 'content'>
}

/** Where the files of a session come from. */
interface SessionSources {
  /** Threads whose named files count, the most important first. */
  threads: string[]
  /** Files of the project, which come after those. */
  projectFiles: string[]
}

/** A file that is not read yet. */
interface Listed {
  path: string
  sha256: string
  size: number
  read(): Promise<Buffer | undefined>
}

/** The files of a session that it does not know yet; of several with one name the newest. */
export async function newSessionFiles(
  deps: SessionFilesDeps,
  caller: Caller,
  { threads, projectFiles }: SessionSources,
  isKnown: IsKnown,
): Promise<SessionFile[]> {
  const files: SessionFile[] = []
  const seen = new Set<string>()
  let left = maxSessionBytes
  const take = async (listed: Listed) => {
    const { path, sha256, size } = listed
    if (seen.has(path) || size > left) return
    seen.add(path)
    left -= size
    if (isKnown(path, sha256)) return
    const bytes = await listed.read()
    if (bytes !== undefined) files.push({ path, bytes })
  }
  for (const threadId of threads) for (const listed of await filesOfThread(deps, threadId)) await take(listed)
  for (const fileId of projectFiles) {
    const listed = await fileOfProject(deps, caller, fileId)
    if (listed !== undefined) await take(listed)
  }
  return files
}

/** The names that files of the project have in a session. */
export async function namesOfProjectFiles(
  { projectFiles }: Pick<SessionFilesDeps, 'projectFiles'>,
  caller: Caller,
  fileIds: string[],
): Promise<string[]> {
  const found = await Promise.all(fileIds.map((fileId) => ifFound(projectFiles.find(caller, fileId))))
  return found.flatMap((file) => (file === undefined ? [] : (sessionPath(file.name) ?? [])))
}

async function filesOfThread(
  { collections }: Pick<SessionFilesDeps, 'collections'>,
  threadId: string,
): Promise<Listed[]> {
  const store = attachmentStore(collections)
  const listed = await store.listNamed(threadId, maxListed)
  return listed.flatMap(({ _id, name, size, sha256 }) => {
    const path = sessionPath(name)
    if (path === undefined) return []
    return [{ path, size, sha256, read: () => store.bytesInThread(threadId, _id) }]
  })
}

async function fileOfProject(
  { projectFiles }: SessionFilesDeps,
  caller: Caller,
  fileId: string,
): Promise<Listed | undefined> {
  const file = await ifFound(projectFiles.find(caller, fileId))
  const path = file && sessionPath(file.name)
  if (file === undefined || path === undefined) return undefined
  const { size, sha256 } = file
  return { path, size, sha256, read: async () => buffer((await projectFiles.content(caller, fileId)).bytes) }
}
