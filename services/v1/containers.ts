import { createHash } from 'node:crypto'
import { bytesWithin } from '../../domain/bytes-within.ts'
import { containerFileId, containerId, storedFileIds, threadOfContainer } from '../../domain/container-ids.ts'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { dataFolder, sessionPath } from '../../domain/session-path.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import { openAttachment } from '../attachments/open-attachment.ts'
import { withAttachments } from '../attachments/receive-content.ts'
import { containerLimits, useContainer } from '../code/container-use.ts'
import { newSessionFiles } from '../code/session-files.ts'
import type { Collections } from '../collections.ts'
import type { PageQuery } from '../cursor-page.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { Caller } from '../owner.ts'
import type { Page } from '../page.ts'
import { lockProject, lockUser } from '../parents.ts'
import { namedThreadStore } from '../public/store.ts'
import { type ListedAttachment, attachmentStore } from '../stores/attachments.ts'
import { threadStore } from '../stores/threads.ts'
import { threadRecordOf } from '../threads/create-thread.ts'
import type { RunInTransaction } from '../transactions.ts'
import { containerStore } from './store.ts'

interface ContainersDeps {
  collections: Pick<Collections, 'threads' | 'attachments' | 'users' | 'projects'>
  transaction: RunInTransaction
  files: Pick<ProjectFiles, 'find' | 'content'>
  storageQuota: Pick<StorageQuota, 'requireRoom'>
  deletions: { deleteThread(caller: Caller, threadId: string): Promise<DeletionResult> }
}

interface NewContainer {
  name: string
  minutes: number
  memoryLimit: string | undefined
  fileIds: string[]
}

export { containerLimits }

/** A container of a caller: one that was made by itself, or the session of a thread. */
export interface Container {
  id: string
  thread: ThreadRecord
  isExpired: boolean
}

/** A file of a container, without its bytes. */
export interface ContainerFile {
  id: string
  containerId: string
  path: string
  bytes: number
  createdAt: Date
  isWritten: boolean
}

/**
 * Containers: sessions of code with their files. Those that are made by themselves go some time after their last use; the
 * session of a thread has the files of the thread, as long as there is the thread.
 */
export function createContainers(deps: ContainersDeps) {
  const { collections, transaction, deletions, storageQuota } = deps
  const [named, containers] = [namedThreadStore(collections), containerStore(collections)]
  const attachments = attachmentStore(collections)

  async function find(caller: Caller, id: string): Promise<Container> {
    const thread = await named.findOwned(caller, threadOfContainer(id) ?? '')
    if (thread === null) throw new AppError('not_found', `There is no container ${id}.`)
    return shown(thread)
  }

  /** As `find`, as a use of it. Throws `not_found` for one that has expired. */
  async function use(caller: Caller, id: string): Promise<Container> {
    const found = await find(caller, id)
    return found.thread.container === undefined
      ? found
      : shown(await useContainer(collections, caller, found.thread._id))
  }

  /** Files of the project as they are stored in a container. */
  async function copiesOf(caller: Caller, fileIds: string[], loc: (string | number)[]): Promise<AttachmentOfFile[]> {
    const copies: AttachmentOfFile[] = []
    for (const [index, fileId] of fileIds.entries()) {
      const { file, bytes: source } = await deps.files.content(caller, fileId)
      const bytes = await bytesWithin(source, containerLimits.fileBytes)
      if (bytes === undefined) throw tooLarge([...loc, index])
      copies.push(fileRecord(file.name, bytes))
    }
    return copies
  }

  /** Adds files to a container that has room for them. */
  async function add({ thread }: Container, added: AttachmentOfFile[], loc: (string | number)[]): Promise<void> {
    const size = added.reduce((sum, file) => sum + file.size, 0)
    await storageQuota.requireRoom(thread.user_id, size)
    const location = { thread_id: thread._id, user_id: thread.user_id, created_at: new Date() }
    // Stored first and counted afterwards, so that of many at once none is overlooked.
    await withAttachments(collections, location, {
      given: added,
      async work() {
        const there = await attachments.listSizes(thread._id, containerLimits.files + 1)
        if (there.length > containerLimits.files)
          throw invalidInput(loc, `a container has at most ${containerLimits.files} files`, 'too_many')
        if (there.reduce((sum, file) => sum + file.size, 0) > containerLimits.allBytes)
          throw invalidInput(
            loc,
            `the files of a container have at most ${containerLimits.allBytes} bytes`,
            'too_large',
          )
        // Either the deletion of the thread sees the files, or they see it.
        const owner = { userId: thread.user_id, projectId: thread.project_id }
        if (!(await named.hasOwned(owner, thread._id))) throw new AppError('not_found', 'The container was deleted.')
      },
    })
  }

  async function findFile(caller: Caller, id: string, fileId: string) {
    const container = await use(caller, id)
    const file = await attachments.findListed(container.thread._id, storedFileIds(fileId))
    if (file === null) throw new AppError('not_found', `The container has no file ${fileId}.`)
    return { file, container }
  }

  return {
    find,
    use,
    ofThread: (caller: Caller, threadId: string) => find(caller, containerId(threadId)),
    copiesOf,

    /** Copies of the files of a thread's session, for that of another thread. */
    async copiesOfSession(caller: Caller, threadId: string): Promise<AttachmentOfFile[]> {
      const sources = { threads: [threadId], projectFiles: [] }
      const files = await newSessionFiles({ collections, projectFiles: deps.files }, caller, sources, () => false)
      return files.map(({ path, bytes }) => fileRecord(path, bytes))
    },

    async create(
      caller: Caller,
      { name, minutes, memoryLimit, fileIds }: NewContainer,
      id: string,
    ): Promise<Container> {
      const files = await copiesOf(caller, fileIds, ['body', 'file_ids'])
      const record: ThreadRecord = {
        ...threadRecordOf({
          id,
          ...caller,
          name,
          metadataJson: '{}',
          public: false,
          counted: false,
          expiresAt: new Date(Date.now() + minutes * 60_000),
          container: { minutes, ...(memoryLimit === undefined ? {} : { memory_limit: memoryLimit }) },
        }),
      }
      await transaction(async (session) => {
        // Creations of one user come one after the other, so that none is counted too late.
        await lockUser(collections, caller.userId, session)
        await lockProject(collections, caller, session)
        if ((await containers.countAlive(caller.userId, session)) >= containerLimits.containers)
          throw new AppError('too_many_requests', `There can be ${containerLimits.containers} containers at once.`)
        await threadStore(collections).addNew(record, session)
      })
      const container = shown(record)
      try {
        await add(container, files, ['body', 'file_ids'])
        return container
      } catch (error) {
        await deletions.deleteThread(caller, id)
        throw error
      }
    },

    async page(caller: Caller, query: PageQuery & { name?: string | undefined }): Promise<Page<Container>> {
      const { entries, hasMore } = await containers.page(caller, withThreadIds(query), query.name)
      return { entries: entries.map(shown), hasMore }
    },

    /** Of the session of a thread, what code has written is deleted; the thread stays. */
    async remove(caller: Caller, id: string): Promise<DeletionResult | undefined> {
      const { thread } = await find(caller, id)
      if (thread.container !== undefined) return deletions.deleteThread(caller, thread._id)
      await attachments.removeWritten(thread._id)
      return undefined
    },

    /** Adds a file, by its bytes or by the id of a file of the project. */
    async addFile(
      caller: Caller,
      id: string,
      given: { name: string; bytes: Buffer } | { fileId: string },
    ): Promise<ContainerFile> {
      const container = await use(caller, id)
      const [file] =
        'fileId' in given
          ? await copiesOf(caller, [given.fileId], ['body', 'file_id'])
          : [fileRecord(given.name, given.bytes)]
      if (file === undefined) throw new Error('one file was read')
      await add(container, [file], ['body', 'file'])
      return toFile(container.id, { ...file, created_at: new Date() })
    },

    async files(caller: Caller, id: string, query: PageQuery): Promise<Page<ContainerFile>> {
      const container = await use(caller, id)
      const { entries, hasMore } = await attachments.pageListed(container.thread._id, query, storedFileIds)
      return { entries: entries.map((file) => toFile(container.id, file)), hasMore }
    },

    async file(caller: Caller, id: string, fileId: string): Promise<ContainerFile> {
      const { file, container } = await findFile(caller, id, fileId)
      return toFile(container.id, file)
    },

    async content(caller: Caller, id: string, fileId: string): Promise<Buffer> {
      const { file, container } = await findFile(caller, id, fileId)
      return (await openAttachment(collections, container.thread._id, file._id)).bytes
    },

    async removeFile(caller: Caller, id: string, fileId: string): Promise<void> {
      const { file, container } = await findFile(caller, id, fileId)
      await attachments.remove(container.thread._id, [file._id])
    },
  }
}

export type Containers = ReturnType<typeof createContainers>

/** An attachment of a container; each has a name. */
type AttachmentOfFile = Omit<AttachmentRecord, 'thread_id' | 'user_id' | 'created_at'>

function fileRecord(name: string, bytes: Buffer): AttachmentOfFile {
  return {
    _id: containerFileId(newId()),
    name: sessionPath(name) ?? 'file',
    content_type: writtenTypeOf(bytes),
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes,
  }
}

function shown(thread: ThreadRecord): Container {
  const isExpired = thread.container !== undefined && (thread.expires_at?.getTime() ?? 0) <= Date.now()
  return { id: containerId(thread._id), thread, isExpired }
}

function toFile(
  container: string,
  { _id, name, size, created_at: createdAt, is_written }: ListedAttachment,
): ContainerFile {
  return {
    id: containerFileId(_id),
    containerId: container,
    path: `${dataFolder}/${sessionPath(name) ?? name}`,
    bytes: size,
    createdAt,
    isWritten: is_written === true,
  }
}

function withThreadIds<T extends PageQuery>(query: T): T {
  const threadId = (id: string | undefined) => (id === undefined ? undefined : (threadOfContainer(id) ?? id))
  return { ...query, after: threadId(query.after), before: threadId(query.before) }
}

function tooLarge(loc: (string | number)[]): AppError {
  return invalidInput(
    loc,
    `is larger than the ${containerLimits.fileBytes} bytes that a file of a container has`,
    'too_large',
  )
}
