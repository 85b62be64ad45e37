import type { Static } from 'typebox'
import { Value } from 'typebox/value'
import { AssistantConfig } from '../../domain/assistant-config.ts'
import { AppError } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { maxMessageBytes } from '../../domain/message-size.ts'
import { type Message, systemMessageInJson } from '../../domain/messages.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { runErrorTypeOf } from '../../domain/run-errors.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { createProjects } from '../projects/index.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import { threadMaxBytes } from '../threads/room.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { NewIds } from './new-ids.ts'
import type { ArchivedAssistant, ArchivedEntry, ArchivedProject, ArchivedRun, ArchivedThread } from './records.ts'
import { type ReportWriter, refused, settle } from './report.ts'
import { withoutSecrets } from './without-secrets.ts'

export interface ImportRecordsDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'threads' | 'checkpoints' | 'runs'>
  transaction: RunInTransaction
  projects: Pick<ReturnType<typeof createProjects>, 'create'>
  assistants: Pick<Assistants, 'createUnder'>
  createThread: CreateThread
}

/** Whose account is filled, under which ids, and what is told about it. */
export interface Import {
  userId: string
  idOf: NewIds
  report: ReportWriter
}

const accessModeKey = 'type==agent/access_mode'
const namesTried = 20
/** What a message has beside its text, at most. */
const envelopeBytes = 64 * 1024

/**
 * Stores the records of an archive, each under the id that `idOf` gives it: what is there already is counted and left
 * alone. A record that a rule of the service refuses is reported, and so are the records below it. Parents come
 * before their children.
 */
export function createRecordImport(deps: ImportRecordsDeps, { userId, idOf, report }: Import) {
  const { collections, transaction } = deps
  const { projects, assistants, threads, checkpoints, runs } = collections

  return {
    project: ({ project_id: oldId, name, description, created_at }: Static<typeof ArchivedProject>) =>
      settle(report, 'projects', oldId, async () => {
        const id = idOf('project', oldId)
        if ((await projects.exists({ _id: id, user_id: userId })) !== null) return 'existing'
        await underFreeName(name, (free) => deps.projects.create(userId, { name: free, description }, id))
        await projects.updateOne({ _id: id, user_id: userId }, { $set: { created_at: new Date(created_at) } })
        return 'imported'
      }),

    assistant: (archived: Static<typeof ArchivedAssistant>) =>
      settle(report, 'assistants', archived.assistant_id, async () => {
        const id = idOf('assistant', archived.assistant_id)
        const { config: known, missing } = withoutSecrets(archived.config)
        const config = Object.fromEntries(Object.entries(known).filter(([key]) => key !== accessModeKey))
        if (archived.config[accessModeKey] !== undefined && archived.config[accessModeKey] !== 'authenticated')
          report.unpublish(id)
        report.missSecrets(id, archived.name, missing)
        if ((await assistants.exists({ _id: id, user_id: userId })) !== null) return 'existing'
        if (!Value.Check(AssistantConfig, config)) throw refused('its configuration is not valid here')
        const place = { userId, projectId: idOf('project', archived.project_id) }
        await deps.assistants.createUnder(place, id, { name: archived.name, config })
        await assistants.updateOne(
          { _id: id, user_id: userId },
          { $set: { created_at: new Date(archived.created_at) } },
        )
        return 'imported'
      }),

    thread: (archived: Static<typeof ArchivedThread>) =>
      settle(report, 'threads', archived.thread_id, async () => {
        const id = idOf('thread', archived.thread_id)
        if ((await threads.exists({ _id: id, user_id: userId })) !== null) return 'existing'
        // An assistant of somebody else was not in the archive.
        const assistantId = archived.assistant_id && idOf('assistant', archived.assistant_id)
        const hasAssistant =
          assistantId !== undefined && (await assistants.exists({ _id: assistantId, user_id: userId })) !== null
        if (archived.public && !hasAssistant) throw refused('its assistant was not imported')
        await deps.createThread({
          id,
          userId,
          projectId: idOf('project', archived.project_id),
          name: archived.name,
          metadataJson: checkFreeForm(['metadata'], archived.metadata),
          assistantId: hasAssistant ? assistantId : undefined,
          public: archived.public,
        })
        const times = { created_at: new Date(archived.created_at), updated_at: new Date(archived.updated_at) }
        await threads.updateOne(
          { _id: id, user_id: userId },
          { $set: { ...times, last_outcome: archived.last_outcome ?? 'none' } },
          { timestamps: false },
        )
        return 'imported'
      }),

    /** The entries of a thread come in the order of their numbers. */
    entry: (archived: Static<typeof ArchivedEntry>) =>
      settle(report, 'messages', `${archived.thread_id}/${archived.seq}`, async () => {
        const threadId = idOf('thread', archived.thread_id)
        const thread = await ownThread(threadId)
        const { seq } = archived
        const id = idOf('message', `${archived.thread_id}/${seq}`)
        const last = thread.last_seq ?? 0
        if (seq <= last) {
          if ((await checkpoints.exists({ _id: id, thread_id: threadId })) !== null) return 'existing'
          throw refused('its thread has gone on since')
        }
        if (seq !== last + 1) throw refused('an entry before it is missing')
        if (last > 0) {
          const before = idOf('message', `${archived.thread_id}/${last}`)
          const isOurs = await checkpoints.exists({ _id: before, thread_id: threadId })
          if (isOurs === null) throw refused('its thread has gone on since')
        }
        await append(thread, {
          _id: id,
          thread_id: threadId,
          seq,
          messages_json: storable(archived.messages),
          source: archived.source,
          ...(archived.run_id === undefined
            ? {}
            : { run_id: idOf('run', archived.run_id), step: archived.step ?? seq }),
          created_at: new Date(archived.created_at),
        })
        return 'imported'
      }),

    run: (archived: Static<typeof ArchivedRun>) =>
      settle(report, 'runs', archived.run_id, async () => {
        const id = idOf('run', archived.run_id)
        const thread = await ownThread(idOf('thread', archived.thread_id))
        if ((await runs.exists({ _id: id, user_id: userId })) !== null) return 'existing'
        await runs.create([runRecordOf(archived, id, thread)])
        // Stored first and checked afterwards: see services/parents.ts.
        if ((await threads.exists({ _id: thread._id, deleting: { $ne: true } })) !== null) return 'imported'
        await runs.deleteOne({ _id: id, user_id: userId })
        throw refused('its thread was deleted')
      }),
  }

  async function ownThread(threadId: string): Promise<ThreadRecord> {
    const thread = await threads
      .findOne({ _id: threadId, user_id: userId, deleting: { $ne: true } })
      .lean<ThreadRecord>()
    if (thread === null) throw refused('its thread was not imported')
    return thread
  }

  async function append(thread: ThreadRecord, entry: CheckpointRecord): Promise<void> {
    const bytes = Buffer.byteLength(entry.messages_json)
    if ((thread.log_bytes ?? 0) + bytes > threadMaxBytes) throw refused('its thread is full')
    const expected = thread.last_seq === undefined ? { $exists: false } : thread.last_seq
    await transaction(async (session) => {
      const { matchedCount } = await threads.updateOne(
        { _id: thread._id, user_id: userId, deleting: { $ne: true }, last_seq: expected },
        {
          $set: { last_seq: entry.seq, ...(systemMessageInJson.test(entry.messages_json) ? { has_system: true } : {}) },
          $inc: { log_bytes: bytes },
          // The ids of imported entries can come back, and conversations in memory are found by them.
          $unset: { last_entry_id: 1 },
        },
        { session, timestamps: false },
      )
      if (matchedCount === 0) throw new AppError('conflict', 'Another request changes the imported threads. Try again.')
      await checkpoints.insertMany([entry], { session, lean: true })
    }).catch((error: unknown) => {
      throw isDuplicateKey(error) ? refused('two entries have the same step of a run') : error
    })
  }

  function runRecordOf(archived: Static<typeof ArchivedRun>, id: string, thread: ThreadRecord): RunRecord {
    const created = new Date(archived.created_at)
    // Nothing carries on a run of another installation.
    const isOpen = isOpenRun(archived)
    return {
      _id: id,
      thread_id: thread._id,
      user_id: userId,
      project_id: thread.project_id,
      assistant_id: idOf('assistant', archived.assistant_id),
      public: thread.public,
      status: isOpen ? 'cancelled' : archived.status,
      input_json: storable(archived.input),
      overrides: {},
      fence: 1,
      ...(archived.usage === undefined ? {} : { usage: archived.usage }),
      ...(archived.model === undefined ? {} : { model: archived.model }),
      ...(archived.error === undefined
        ? {}
        : { error: { ...archived.error, type: runErrorTypeOf(archived.error.type) } }),
      created_at: created,
      ...(archived.started_at === undefined ? {} : { started_at: new Date(archived.started_at) }),
      finished_at: archived.finished_at === undefined ? created : new Date(archived.finished_at),
    }
  }
}

/** Names of projects are unique: one that is taken gets an addition. */
async function underFreeName(name: string, create: (name: string) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const addition = attempt === 1 ? '' : attempt === 2 ? ' (imported)' : ` (imported ${attempt - 1})`
    try {
      await create(`${name.slice(0, 100 - addition.length)}${addition}`)
      return
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'bad_request' && name.trim() !== ''
      if (!isTaken || attempt === namesTried) throw error
    }
  }
}

const messageMembers = new Set('id content name tool_calls tool_call_id usage incomplete metadata cut'.split(' '))

/** Messages as JSON text, with the members that this version knows. */
function storable(messages: Message[]): string {
  const texts = messages.map(({ type, data }) =>
    JSON.stringify({
      type,
      data: Object.fromEntries(Object.entries(data).filter(([name]) => messageMembers.has(name))),
    }),
  )
  for (const text of texts)
    if (Buffer.byteLength(text) > maxMessageBytes.user + envelopeBytes) throw refused('one of its messages is too long')
  return `[${texts.join(',')}]`
}
