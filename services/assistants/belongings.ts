import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { inBatches } from '../owned-data/data-store.ts'
import type { AssistantConfigs } from './configs.ts'

export type BelongingsCollections = Pick<
  Collections,
  'assistants' | 'schedules' | 'scheduleRuns' | 'sources' | 'threads' | 'runs'
>

interface Move {
  assistant: AssistantRecord
  /** The project into which it moves. */
  to: string
  session: ClientSession
}

/** One transaction moves the conversations of public callers, and it has a minute. */
const maxThreads = 20_000
const threadsOfBatch = 500
/** Ids that a refusal names. */
const maxNamed = 20

/**
 * What belongs to an assistant and names its project, so that it moves with it. Files, sources, facts and passages name
 * only their assistant. Conversations of the account, their runs and what is shared of them belong to the project.
 */
const belongings: readonly ((collections: BelongingsCollections, move: Move) => Promise<void>)[] = [
  async ({ schedules }, { assistant, to, session }) => {
    // Temporal learns of it by the next comparison.
    const change = { $set: { project_id: to, check_at: new Date() }, $inc: { revision: 1 } }
    await schedules.updateMany(inItsProject(assistant), change, { session, timestamps: false })
  },
  async ({ scheduleRuns }, { assistant, to, session }) => {
    await scheduleRuns.updateMany(inItsProject(assistant), { $set: { project_id: to } }, { session })
  },
  async ({ threads }, { assistant, to, session }) => {
    const moved = { $set: { project_id: to } }
    const { project_id: from } = assistant
    await inBatches(await publicThreads({ threads }, assistant, session), async (ids) => {
      await threads.updateMany({ _id: { $in: ids }, project_id: from }, moved, { session, timestamps: false })
    })
  },
]

/** Moves what belongs to an assistant. Throws `conflict`, and names what cannot follow. */
export async function moveBelongings(
  collections: BelongingsCollections,
  configs: Pick<AssistantConfigs, 'settingsOf'>,
  move: Move,
): Promise<void> {
  const staying = [...(await storesOf(collections, configs, move)), ...(await boundSchedules(collections, move))]
  const count = await collections.threads.countDocuments(ofPublic(move.assistant), { session: move.session })
  if (count > maxThreads) staying.push(`its ${count} conversations of public callers (at most ${maxThreads})`)
  if (staying.length > 0)
    throw new AppError(
      'conflict',
      `The assistant cannot move, because these cannot follow it: ${staying.slice(0, maxNamed).join(', ')}.`,
    )
  for (const follow of belongings) await follow(collections, move)
}

/**
 * The runs of its moved conversations follow after the transaction, which would meet the writes of live runs. Can be
 * repeated.
 */
export async function moveRuns(
  { threads, runs }: Pick<BelongingsCollections, 'threads' | 'runs'>,
  assistant: AssistantRecord,
): Promise<void> {
  const { project_id: to } = assistant
  const follow = async (ids: string[]) => {
    const behind = { thread_id: { $in: ids }, project_id: { $ne: to } }
    await runs.updateMany(behind, { $set: { project_id: to } }, { timestamps: false })
  }
  const found = threads
    .find({ ...ofPublic(assistant), project_id: to }, { _id: 1 })
    .lean<{ _id: string }[]>()
    .cursor({ batchSize: threadsOfBatch })
  let ids: string[] = []
  for await (const { _id } of found) {
    ids.push(_id)
    if (ids.length < threadsOfBatch) continue
    await follow(ids)
    ids = []
  }
  if (ids.length > 0) await follow(ids)
}

const inItsProject = ({ _id, project_id }: AssistantRecord) => ({ assistant_id: _id, project_id })

/** The threads of its public callers, and those in which others answered it there. */
const ofPublic = ({ _id }: AssistantRecord) => ({ $or: [{ assistant_id: _id, public: true }, { asked_for: _id }] })

async function publicThreads(
  { threads }: Pick<BelongingsCollections, 'threads'>,
  assistant: AssistantRecord,
  session: ClientSession,
): Promise<string[]> {
  const found = await threads.find(ofPublic(assistant), { _id: 1 }, { session }).lean<{ _id: string }[]>()
  return found.map(({ _id }) => _id)
}

/** Vector stores hold files of their project, and others may search them. */
async function storesOf(
  { assistants }: BelongingsCollections,
  { settingsOf }: Pick<AssistantConfigs, 'settingsOf'>,
  { assistant, session }: Move,
): Promise<string[]> {
  const { vectorStores: ids } = settingsOf(assistant)
  if (ids.length === 0) return []
  const own = { _id: { $in: ids }, project_id: assistant.project_id, kind: 'vector_store' as const }
  const found = await assistants.find(own, { _id: 1 }, { session }).lean<{ _id: string }[]>()
  return found.map(({ _id }) => `the vector store ${_id} of this project, which it searches`)
}

/** A schedule that asks in a conversation of the account is deleted with that. */
async function boundSchedules(
  { schedules, threads }: BelongingsCollections,
  { assistant, session }: Move,
): Promise<string[]> {
  const bound = { ...inItsProject(assistant), thread_id: { $exists: true }, deleting: { $ne: true } }
  const found = await schedules.find(bound, { thread_id: 1 }, { session }).lean<{ _id: string; thread_id?: string }[]>()
  if (found.length === 0) return []
  const staying = { _id: { $in: found.flatMap(({ thread_id: id }) => id ?? []) }, project_id: assistant.project_id }
  const there = await threads.find({ ...staying, public: false }, { _id: 1 }, { session }).lean<{ _id: string }[]>()
  const ids = new Set(there.map(({ _id }) => _id))
  return found
    .filter(({ thread_id: id }) => id !== undefined && ids.has(id))
    .map(({ _id, thread_id: id }) => `the schedule ${_id}, which asks in the conversation ${id}`)
}
