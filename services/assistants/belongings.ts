import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { inBatches } from '../owned-data/data-store.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import type { AssistantConfigs } from './configs.ts'
import { moveStore } from './store.ts'

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
const belongings: readonly ((collections: BelongingsCollections, move: Move) => Promise<unknown>)[] = [
  (collections, { assistant, to, session }) => scheduleStore(collections).moveWith(assistant, to, session),
  (collections, { assistant, to, session }) => scheduleRunStore(collections).moveWith(assistant, to, session),
  async (collections, { assistant, to, session }) => {
    const store = moveStore(collections)
    await inBatches(await store.threadIds(assistant, session), async (ids) => {
      await store.moveThreads(ids, assistant.project_id, to, session)
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
  const count = await moveStore(collections).countThreads(move.assistant, move.session)
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
  collections: Pick<BelongingsCollections, 'assistants' | 'threads' | 'runs'>,
  assistant: AssistantRecord,
): Promise<void> {
  const store = moveStore(collections)
  let ids: string[] = []
  for await (const { _id } of store.openMovedThreads(assistant)) {
    ids.push(_id)
    if (ids.length < threadsOfBatch) continue
    await store.moveRuns(ids, assistant.project_id)
    ids = []
  }
  if (ids.length > 0) await store.moveRuns(ids, assistant.project_id)
}

/** Vector stores hold files of their project, and others may search them. */
async function storesOf(
  collections: BelongingsCollections,
  { settingsOf }: Pick<AssistantConfigs, 'settingsOf'>,
  { assistant, session }: Move,
): Promise<string[]> {
  const { vectorStores: ids } = settingsOf(assistant)
  if (ids.length === 0) return []
  const found = await moveStore(collections).storesInProject(assistant.project_id, ids, session)
  return found.map((id) => `the vector store ${id} of this project, which it searches`)
}

/** A schedule that asks in a conversation of the account is deleted with that. */
async function boundSchedules(collections: BelongingsCollections, { assistant, session }: Move): Promise<string[]> {
  const found = await scheduleStore(collections).listInThreads(assistant, session)
  if (found.length === 0) return []
  const bound = found.flatMap(({ thread_id: id }) => id ?? [])
  const ids = new Set(await moveStore(collections).threadsInProject(assistant.project_id, bound, session))
  return found
    .filter(({ thread_id: id }) => id !== undefined && ids.has(id))
    .map(({ _id, thread_id: id }) => `the schedule ${_id}, which asks in the conversation ${id}`)
}
