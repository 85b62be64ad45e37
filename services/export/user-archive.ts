import type { Model } from 'mongoose'
import { maskSecrets } from '../../domain/mask-secrets.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { RunOverrides } from '../../domain/records/run.ts'
import { objectFromJsonText } from '../../domain/json-text.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { type ArchiveMember, packed } from './packed.ts'

export interface ArchiveDeps {
  collections: Collections
  assistantConfigs: Pick<AssistantConfigs, 'textOf'>
  blobs: Pick<BlobStore, 'read' | 'exists'>
}

const recordsAtOnce = 200
/** Messages are up to two megabytes each. */
const checkpointsAtOnce = 8
const partBytes = 4 * 1024 * 1024

/**
 * All data of a user as a tar archive: records as JSON Lines in parts of a few megabytes, and the original files.
 * Holds one page of records or one piece of a file at a time. Passwords, keys and tokens are left out; secrets
 * within configurations are masked.
 */
export function userArchive(deps: ArchiveDeps, user: UserRecord): AsyncGenerator<Buffer, undefined> {
  return packed(membersOf(deps, user))
}

async function* membersOf(deps: ArchiveDeps, user: UserRecord): AsyncGenerator<ArchiveMember, undefined> {
  const { collections } = deps
  const { projects, assistants, threads, checkpoints, runs, toolCalls, feedback, files } = collections
  const now = new Date()
  // What is created while the archive is sent is left out with all that belongs to it: no record lacks its parent.
  const before = { created_at: { $lte: now } }
  const own = { user_id: user._id, deleting: { $ne: true }, ...before }
  // Without those that are not to be stored: they expire within a day.
  const ownThreads = { ...own, expires_at: { $exists: false } }
  const wrap = async function* (name: string, lines: AsyncIterable<object>) {
    for await (const [index, part] of partsOf(lines))
      yield file(`${name}-${String(index).padStart(5, '0')}.jsonl`, part, now)
  }

  yield file('manifest.json', json({ format: 'assistant-platform-user', version: 1, exported_at: now }), now)
  yield file('user.json', json(userFacts(user)), now)
  yield* wrap(
    'projects',
    mapped(records(projects, own), ({ _id, name, description, created_at, updated_at }) => ({
      project_id: _id,
      name,
      description,
      created_at,
      updated_at,
    })),
  )
  yield* wrap(
    'assistants',
    mapped(records(assistants, own), (assistant) => ({
      assistant_id: assistant._id,
      project_id: assistant.project_id,
      name: assistant.name,
      public: assistant.public,
      config: maskSecrets(objectFromJsonText(deps.assistantConfigs.textOf(assistant))),
      created_at: assistant.created_at,
      updated_at: assistant.updated_at,
    })),
  )
  yield* wrap(
    'threads',
    mapped(records(threads, ownThreads), ({ _id, metadata_json, ...thread }) => ({
      thread_id: _id,
      project_id: thread.project_id,
      assistant_id: thread.assistant_id,
      name: thread.name,
      public: thread.public,
      last_outcome: thread.last_outcome,
      metadata: objectFromJsonText(metadata_json),
      created_at: thread.created_at,
      updated_at: thread.updated_at,
    })),
  )
  yield* wrap(
    'messages',
    ofThreads((thread) =>
      mapped(
        entriesOf(checkpoints, thread.thread_id),
        ({ thread_id, seq, source, run_id, step, model, messages_json, created_at }) => ({
          thread_id,
          seq,
          source,
          run_id,
          step,
          model,
          messages: parsed(messages_json),
          created_at,
        }),
      ),
    ),
  )
  yield* wrap(
    'runs',
    ofThreads((thread) =>
      mapped(records(runs, { ...thread, ...before }, checkpointsAtOnce), (run) => ({
        run_id: run._id,
        thread_id: run.thread_id,
        assistant_id: run.assistant_id,
        status: run.status,
        input: parsed(run.input_json),
        overrides: shownOverrides(run.overrides),
        metadata: run.metadata_json === undefined ? undefined : objectFromJsonText(run.metadata_json),
        model: run.model,
        usage: run.usage,
        usage_by_model: run.usage_by_model,
        error: run.error,
        created_at: run.created_at,
        started_at: run.started_at,
        finished_at: run.finished_at,
      })),
    ),
  )
  yield* wrap(
    'tool-calls',
    ofThreads((thread) =>
      mapped(
        records(toolCalls, { ...thread, ...before }, checkpointsAtOnce),
        ({ _id: _key, claimed_by: _by, args_json, ...call }) => ({
          ...call,
          args: parsed(args_json),
        }),
      ),
    ),
  )
  yield* wrap(
    'feedback',
    ofThreads((thread) =>
      mapped(records(feedback, { ...thread, ...before }), ({ _id, value_json, ...rest }) => ({
        feedback_id: _id,
        ...rest,
        ...(value_json === undefined ? {} : { value: parsed(value_json) }),
      })),
    ),
  )

  const gone = await assistants.distinct('_id', { user_id: user._id, deleting: true })
  const stored = { user_id: user._id, status: { $ne: 'uploading' }, assistant_id: { $nin: gone }, ...before }
  const listed = new Set<string>()
  yield* wrap(
    'files',
    mapped(records(files, stored), (one) => {
      listed.add(one._id)
      return {
        file_id: one._id,
        assistant_id: one.assistant_id,
        name: one.name,
        content_type: one.content_type,
        size: one.size,
        sha256: one.sha256,
        path: pathOf(one._id),
        created_at: one.created_at,
      }
    }),
  )
  for await (const { _id, blob_id, size, created_at } of records(files, stored)) {
    // Its upload has ended since, or it was deleted.
    if (!listed.has(_id) || !(await deps.blobs.exists(blob_id))) continue
    yield { name: pathOf(_id), size, modified: created_at, content: deps.blobs.read(blob_id) }
  }

  async function* ofThreads(read: (filter: { thread_id: string }) => AsyncIterable<object>): AsyncGenerator<object> {
    for await (const { _id } of records(threads, ownThreads)) yield* read({ thread_id: _id })
  }
}

const pathOf = (fileId: string) => `files/${fileId}`

function userFacts({
  _id,
  email,
  provider,
  first_name,
  last_name,
  verified,
  thread_max,
  created_at,
  last_active_at,
}: UserRecord) {
  return { user_id: _id, email, provider, first_name, last_name, verified, thread_max, created_at, last_active_at }
}

const json = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
const parsed = (text: string): unknown => parseOwnJson(text)

function file(name: string, bytes: Buffer, modified: Date): ArchiveMember {
  return { name, size: bytes.length, modified, content: [bytes] }
}

/** Page by page in the order of ids, so that no cursor stays open while a client reads slowly. */
async function* records<T extends { _id: string }>(
  collection: Model<T>,
  filter: object,
  atOnce = recordsAtOnce,
): AsyncGenerator<T> {
  const pages = pagesById(atOnce, (after: After<string>, limit) =>
    collection
      .find({ ...filter, ...after })
      .sort({ _id: 1 })
      .limit(limit)
      .lean<T[]>(),
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
    const page = await checkpoints
      .find({ thread_id: threadId, seq: { $gt: last } })
      .sort({ seq: 1 })
      .limit(checkpointsAtOnce)
      .lean<CheckpointRecord[]>()
    yield* page
    if (page.length < checkpointsAtOnce) return
    last = page.at(-1)?.seq ?? last
  }
}

/** With the format of the answer as JSON instead of its text. */
function shownOverrides({ response_format_json: format, ...rest }: RunOverrides) {
  return { ...rest, ...(format === undefined ? {} : { response_format: parsed(format) }) }
}

async function* mapped<T>(source: AsyncIterable<T>, map: (value: T) => object): AsyncGenerator<object> {
  for await (const value of source) yield map(value)
}

/** Lines in numbered parts: an archive says how long a file is before its first byte. */
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
