import { newId } from '../../domain/ids.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { createSecretBox } from '../../services/secrets.ts'
import { archiveOwnerOf, createArchivedThreads } from '../../services/threads/archived/open.ts'
import { createArchiveSweep } from '../../services/threads/archived/sweep.ts'
import { createArchivedTexts } from '../../services/threads/archived/texts.ts'
import type { RunningService } from './service.ts'
import type { TestUser } from './users.ts'

export const birds = ['albatross', 'bittern', 'cormorant']

/** What archives threads of a service and brings them back, with a store of bytes that a test may replace. */
export function archiving(
  service: RunningService,
  changed: {
    blobs?: object
    archiveAfterDays?: number
    limits?: { bytes: number; texts: number }
    /** What transactions wait for. */
    before?: Promise<void>
  } = {},
) {
  const { collections, secretBox, infra, ...core } = service.api.platform.core
  const transaction: typeof core.transaction = async (work) => {
    await changed.before
    return core.transaction(work)
  }
  const blobs = { ...infra.knowledge.blobs, ...changed.blobs }
  const errors: unknown[] = []
  const deps = { collections, transaction, secretBox, blobs }
  return {
    deps,
    errors,
    sweep: createArchiveSweep({ ...deps, ...(changed.limits === undefined ? {} : { limits: changed.limits }) }),
    threads: createArchivedThreads({
      ...deps,
      settings: { archiveAfterDays: changed.archiveAfterDays },
      onError: (error) => errors.push(error),
    }),
  }
}

/** When no process of the service brings a thread back any more. */
export async function settled({ api, worker }: RunningService): Promise<void> {
  await api.platform.core.archivedThreads.settled()
  await worker?.platform.core.archivedThreads.settled()
}

export async function recordOf({ collections }: RunningService, id: string): Promise<ThreadRecord> {
  const record = await collections.threads.findById(id).lean<ThreadRecord>()
  if (record === null) throw new Error('the thread is gone')
  return record
}

/** How much of a thread is where, when its readers have brought it back: records without their text, and objects. */
export async function placesOf(service: RunningService, id: string) {
  await settled(service)
  const { checkpoints, runs, toolCalls } = service.collections
  const [entries, inputs, calls, objects, { archive }] = await Promise.all([
    checkpoints.countDocuments({ thread_id: id, messages_json: '' }),
    runs.countDocuments({ thread_id: id, input_json: '' }),
    toolCalls.countDocuments({ thread_id: id, args_json: '' }),
    service.api.infra.knowledge.blobs.countOf(archiveOwnerOf(id)),
    recordOf(service, id),
  ])
  return { emptied: entries + inputs + calls, objects, isNamed: archive !== undefined }
}

export const inEntries = { emptied: 0, objects: 0, isNamed: false }

export async function archive(service: RunningService, id: string): Promise<void> {
  await settled(service)
  const isArchived = await archiving(service).sweep.archive(await recordOf(service, id))
  if (!isArchived) throw new Error('the thread could not be archived')
}

/** A thread with three messages. */
export async function threadOf(user: TestUser): Promise<string> {
  const { thread_id: id } = await user.post('/threads/', { name: 'birds' })
  for (const content of birds) await user.post(`/threads/${id}/state`, { values: [{ type: 'human', content }] })
  return id
}

/** The same with a run that has called a tool. */
export async function threadWithRun(service: RunningService, user: TestUser): Promise<string> {
  const id = await threadOf(user)
  const runId = newId()
  const { runs, toolCalls } = service.collections
  const input = [{ type: 'HumanMessage', data: { id: newId(), content: 'dunlin' } }]
  await runs.create({
    _id: runId,
    thread_id: id,
    user_id: user.userId,
    project_id: user.projectId,
    assistant_id: newId(),
    public: false,
    status: 'success',
    input_json: JSON.stringify(input),
    overrides: {},
    fence: 1,
    created_at: new Date(),
    finished_at: new Date(),
  })
  await toolCalls.create({
    _id: `${runId}/0/0`,
    run_id: runId,
    thread_id: id,
    step: 0,
    index: 0,
    call_id: 'c',
    name: 'http_request',
    args_json: '{"url":"https://example.com/egret"}',
    result: 'an egret',
    status: 'done',
    created_at: new Date(),
  })
  return id
}

/** What such a thread says; it is brought back. */
export async function contentsOf(service: RunningService, user: TestUser, id: string): Promise<string> {
  const values = await valuesOf(user, id)
  await archiving(service).threads.bringBack(id)
  const { runs, toolCalls } = service.collections
  const inputs = await runs.find({ thread_id: id }, { input_json: 1 }).lean()
  const calls = await toolCalls.find({ thread_id: id }, { args_json: 1, result: 1 }).lean()
  return JSON.stringify([values, inputs, calls])
}

export const valuesOf = async (user: TestUser, id: string) =>
  JSON.stringify((await user.get(`/threads/${id}/state`)).values)

/** What a process with this key reads of a thread's object. */
export async function readWithKey({ collections, api }: RunningService, key: Uint8Array, id: string) {
  const secretBox = createSecretBox(key)
  const { objectsOf, textsIn } = createArchivedTexts({ collections, blobs: api.infra.knowledge.blobs, secretBox })
  const [blobId = ''] = await objectsOf(id)
  return (await textsIn(id, blobId))?.texts.map(([, text]) => text).join('')
}

/** The record of a thread's object in the database. */
export const objectFileOf = ({ api }: RunningService, id: string) =>
  api.infra.database.connection.collection('blobs.files').findOne({ 'metadata.assistant_id': archiveOwnerOf(id) })
