import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Model } from 'mongoose'
import { pack } from 'tar-stream'
import { hasOwnBytes, projectOwner } from '../../domain/knowledge/project-files.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { AssistantRecord, StoredAssistant, VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import { type ArchiveLine, toArchiveLine } from '../../domain/records/declared-record.ts'
import { archivedNames, declaredRecords } from '../../domain/records/declared-records.ts'
import type { EvaluationRecord } from '../../domain/records/evaluation.ts'
import { type FileRecord, isUploaded } from '../../domain/records/file.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import type { SecretBox } from '../secrets.ts'
import { assistantStore, onlyAssistants } from '../stores/assistants.ts'
import { attachmentStore, bytesOf } from '../stores/attachments.ts'
import { evaluationStore } from '../stores/evaluations.ts'
import { logStore } from '../stores/log.ts'
import { projectStore } from '../stores/projects.ts'
import { createSealedItems } from '../v1/responses/sealed-items.ts'
import { archived, attachmentPathOf, pathOf } from './archived.ts'

export interface ArchiveDeps {
  collections: Collections
  assistantConfigs: Pick<AssistantConfigs, 'textOf'>
  blobs: Pick<BlobStore, 'read' | 'exists'>
  secretBox: Pick<SecretBox, 'seal' | 'open'>
}

/**
 * All data of a user as a tar archive: records as JSON Lines in parts of a few megabytes, and the original files.
 * Holds one page of records or one piece of a file at a time. Passwords, keys and tokens are left out; secrets
 * within configurations are masked.
 */
export function userArchive(deps: ArchiveDeps, user: UserRecord): AsyncGenerator<Buffer, undefined> {
  return packed(membersOf(deps, user))
}

async function* membersOf(deps: ArchiveDeps, user: UserRecord): AsyncGenerator<ArchiveMember, undefined> {
  const { projects, assistants } = deps.collections
  const now = new Date()
  // A record that is created while the archive is sent is left out, and its children with it: no record lacks its parent.
  const own = { user_id: user._id, deleting: { $ne: true }, ...until(now) }
  const { textOf } = deps.assistantConfigs

  yield jsonFile('manifest.json', { format: 'assistant-platform-user', version: 1, exported_at: now }, now)
  yield jsonFile('user.json', archived.user(user), now)
  yield* jsonLines('projects', mapped(records(projects, own), archived.project), now)
  const stores = records<StoredAssistant, VectorStoreRecord>(assistants, { ...own, kind: 'vector_store' })
  yield* jsonLines('vector-stores', mapped(stores, archived.vectorStore), now)
  const ownAssistants = records<StoredAssistant, AssistantRecord>(assistants, { ...own, ...onlyAssistants })
  yield* jsonLines(
    'assistants',
    mapped(ownAssistants, (one) => archived.assistant(one, textOf(one))),
    now,
  )
  yield* threadMembers(deps, own, now)
  const { schedules, scheduleRuns } = deps.collections
  yield* jsonLines('schedules', mapped(records(schedules, own), archived.schedule), now)
  const ofUser = { user_id: user._id, ...until(now) }
  yield* jsonLines('schedule-runs', mapped(records(scheduleRuns, ofUser), archived.scheduleRun), now)
  yield* jsonLines('evaluations', mapped(evaluationsOf(deps.collections, own), archived.evaluation), now)
  for (const name of archivedNames) {
    const { archive }: { archive: ArchiveLine } = declaredRecords[name]
    const declared: Model<{ _id: string }> = deps.collections[name] as never
    const lines = mapped(records(declared, { ...own, ...archive.only }, archive.recordsAtOnce), (record) =>
      toArchiveLine(archive, record),
    )
    yield* jsonLines(name, lines, now)
  }
  yield* fileMembers(deps, user, now)
  const entries = records(deps.collections.files, {
    ...(await storedFiles(deps, user, now)),
    source_id: { $exists: true },
  })
  yield* jsonLines('vector-store-files', mapped(entries, entryLine), now)
}

/** They have the ids of their assistants, which are the user's. */
async function* evaluationsOf(
  { assistants, evaluations }: Pick<Collections, 'assistants' | 'evaluations'>,
  own: object,
): AsyncGenerator<EvaluationRecord> {
  for await (const { _id } of records(assistants, { ...own, ...onlyAssistants }, undefined, { _id: 1 })) {
    const evaluation = await evaluationStore({ evaluations }).find(_id)
    if (evaluation !== null) yield evaluation
  }
}

function entryLine(record: FileRecord): object {
  return archived.vectorStoreFile({ ...record, source_id: record.source_id ?? '' })
}

/** Without pages of the web, those whose owner is being deleted, and those whose time is over. */
async function storedFiles({ collections }: Pick<ArchiveDeps, 'collections'>, user: UserRecord, now: Date) {
  const gone = await assistantStore(collections).deletingIdsOf(user._id)
  const goneProjects = await projectStore(collections).deletingIdsOf(user._id)
  return {
    user_id: user._id,
    status: { $ne: 'uploading' },
    ...isUploaded,
    assistant_id: { $nin: [...gone, ...goneProjects.map(projectOwner)] },
    $or: [{ expires_at: { $exists: false } }, { expires_at: { $gt: now } }],
    ...until(now),
  }
}

const until = (now: Date) => ({ created_at: { $lte: now } })

/** The threads, and what belongs to each of them. */
async function* threadMembers(
  { collections, secretBox }: ArchiveDeps,
  own: object,
  now: Date,
): AsyncGenerator<ArchiveMember, undefined> {
  const { threads, checkpoints, runs, toolCalls, feedback, attachments } = collections
  // Threads that are not to be stored are left out: they expire within a day.
  const ownThreads = { ...own, expires_at: { $exists: false } }

  async function* ofThreads<T>(read: (threadId: string) => AsyncIterable<T>): AsyncGenerator<T> {
    for await (const { _id } of records(threads, ownThreads)) yield* read(_id)
  }
  const entries = ofThreads((id) => entriesOf(checkpoints, id))
  const ownRuns = ofThreads((id) => records(runs, { thread_id: id, ...until(now) }, largeRecordsAtOnce))
  const calls = ofThreads((id) => records(toolCalls, { thread_id: id, ...until(now) }, largeRecordsAtOnce))
  const opinions = ofThreads((id) => records(feedback, { thread_id: id, ...until(now) }))

  yield* jsonLines('threads', mapped(records(threads, ownThreads), archived.thread), now)
  yield* jsonLines('messages', mapped(entries, archived.entry), now)
  const { openSummary } = createSealedItems(secretBox)
  const runLine = (run: RunRecord) => archived.run(run, openSummary)
  yield* jsonLines('runs', mapped(ownRuns, runLine), now)
  yield* jsonLines('tool-calls', mapped(calls, archived.toolCall), now)
  yield* jsonLines('feedback', mapped(opinions, archived.feedback), now)
  const attached = () =>
    ofThreads((id) => records(attachments, { thread_id: id, ...until(now) }, largeRecordsAtOnce, { bytes: 0 }))
  const ofSchedules = () => scheduleAttachments(collections, own)
  async function* described() {
    for await (const { thread_id, created_at, ...rest } of attached())
      yield archived.attachment(rest, { thread_id, created_at })
    for await (const { attachment, owner } of ofSchedules()) yield archived.attachment(attachment, owner)
  }
  yield* jsonLines('attachments', described(), now)
  const { findInThread } = attachmentStore(collections)
  for await (const { _id, thread_id: threadId } of attached()) {
    const stored = await findInThread(threadId, _id)
    if (stored !== null) yield bytesMember(stored, stored.created_at)
  }
  for await (const { attachment, owner } of ofSchedules()) yield bytesMember(attachment, owner.created_at)
}

/** The images, sounds and files of the inputs of schedules; those of one schedule at a time. */
async function* scheduleAttachments({ schedules }: Pick<Collections, 'schedules'>, own: object) {
  const some = { ...own, attachments: { $exists: true } }
  for await (const { _id, created_at, attachments = [] } of records(schedules, some, 1, {
    attachments: 1,
    created_at: 1,
  }))
    for (const attachment of attachments) yield { attachment, owner: { schedule_id: _id, created_at } }
}

function bytesMember(stored: Pick<AttachmentRecord, '_id' | 'bytes'>, modified: Date): ArchiveMember {
  const content = Buffer.from(bytesOf(stored))
  return { name: attachmentPathOf(stored._id), size: content.length, modified, content: [content] }
}

/** The records of the files, then their bytes. */
async function* fileMembers(
  { collections, blobs }: ArchiveDeps,
  user: UserRecord,
  now: Date,
): AsyncGenerator<ArchiveMember, undefined> {
  const stored = { ...(await storedFiles({ collections }, user, now)), ...hasOwnBytes }
  const listed = new Set<string>()
  const lines = mapped(records(collections.files, stored), (file) => {
    listed.add(file._id)
    return archived.file(file)
  })
  yield* jsonLines('files', lines, now)
  for await (const { _id, blob_id, size, created_at } of records(collections.files, stored)) {
    // A file whose upload ended after the list was written has no line in it; a deleted one has no bytes.
    if (!listed.has(_id) || !(await blobs.exists(blob_id))) continue
    yield { name: pathOf(_id), size, modified: created_at, content: blobs.read(blob_id) }
  }
}

async function* mapped<T>(
  source: AsyncIterable<T>,
  map: (value: T) => object | Promise<object>,
): AsyncGenerator<object> {
  for await (const value of source) yield await map(value)
}

const partBytes = 4 * 1024 * 1024

function jsonFile(name: string, value: object, modified: Date): ArchiveMember {
  return file(name, json(value), modified)
}

/** Members `{name}-00001.jsonl` and so on: an archive says how long a file is before its first byte. */
async function* jsonLines(name: string, lines: AsyncIterable<object>, modified: Date): AsyncGenerator<ArchiveMember> {
  for await (const [index, part] of partsOf(lines))
    yield file(`${name}-${String(index).padStart(5, '0')}.jsonl`, part, modified)
}

const json = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)

function file(name: string, bytes: Buffer, modified: Date): ArchiveMember {
  return { name, size: bytes.length, modified, content: [bytes] }
}

/** The lines in numbered parts of a few megabytes. */
async function* partsOf(lines: AsyncIterable<object>): AsyncGenerator<[number, Buffer]> {
  let part: Buffer[] = []
  let bytes = 0
  let index = 1
  for await (const line of lines) {
    const text = json(line)
    part.push(text)
    bytes += text.length
    if (bytes < partBytes) continue
    yield [index, Buffer.concat(part)]
    part = []
    bytes = 0
    index += 1
  }
  if (bytes > 0) yield [index, Buffer.concat(part)]
}

const recordsAtOnce = 200
/** Messages are up to two megabytes each. */
const largeRecordsAtOnce = 8

/**
 * `Found`: what the filter selects. Page by page in the order of ids, so that no cursor stays open while a client reads
 * slowly.
 */
async function* records<T extends { _id: string }, Found extends T = T>(
  collection: Model<T>,
  filter: object,
  atOnce = recordsAtOnce,
  projection: object = {},
): AsyncGenerator<Found> {
  const pages = pagesById(atOnce, (after: After<string>, limit) =>
    collection
      .find({ ...filter, ...after }, projection)
      .sort({ _id: 1 })
      .limit(limit)
      .lean<Found[]>(),
  )
  for await (const page of pages) yield* page
}

/**
 * The log of a thread in the order of its numbers. The ids do not tell the order: the input of a run has the id of the
 * run, which was made before the run waited for its turn.
 */
async function* entriesOf(
  checkpoints: Collections['checkpoints'],
  threadId: string,
): AsyncGenerator<CheckpointRecord, undefined> {
  for (let last = 0; ;) {
    const page = await logStore({ checkpoints }).listSince(threadId, last, largeRecordsAtOnce)
    yield* page
    if (page.length < largeRecordsAtOnce) return
    last = page.at(-1)?.seq ?? last
  }
}

interface ArchiveMember {
  /** At most 100 ASCII characters: a longer name would take an extension of the format. */
  name: string
  /** Number of bytes of `content`. */
  size: number
  modified: Date
  content: Iterable<Buffer> | AsyncIterable<Buffer>
}

/**
 * The members as a tar archive (POSIX ustar). Each member is taken when the one before has been read, so that a few
 * pieces are held at a time. Throws what a member throws.
 */
async function* packed(members: AsyncIterable<ArchiveMember>): AsyncGenerator<Buffer, undefined> {
  const archive = pack()
  const write = async () => {
    for await (const { name, size, modified: mtime, content } of members) {
      const entry = archive.entry({ name, size, mtime, mode: 0o600 })
      await pipeline(Readable.from(content, { objectMode: false }), entry)
    }
    archive.finalize()
  }
  write().catch((error: Error) => archive.destroy(error))
  try {
    for await (const piece of archive) if (Buffer.isBuffer(piece)) yield piece
  } finally {
    archive.destroy()
  }
}
