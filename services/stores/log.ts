import type { ClientSession } from 'mongoose'
import { systemMessageInJson } from '../../domain/messages.ts'
import type { RunKey } from '../../domain/records/run.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

/** The entries of a thread up to one, or those of a run. */
export type LogFilter =
  | { thread_id: string; seq?: { $lt: number } }
  | { thread_id: string; run_id: string; source?: { $ne: 'input' } }

/** What an erasure reads of an entry. */
const erasedMembers = { run_id: 1, step: 1, source: 1, messages_json: 1, 'search.at': 1 } as const
type ErasableEntry = Pick<CheckpointRecord, '_id' | 'run_id' | 'step' | 'source' | 'messages_json' | 'search'>

/** What a search for messages reads of an entry before it chooses. */
export type SearchedEntry = Pick<CheckpointRecord, '_id' | 'thread_id'> & {
  search: NonNullable<CheckpointRecord['search']>
}
const foundMembers = { thread_id: 1, messages_json: 1, created_at: 1 } as const
type FoundEntry = Pick<CheckpointRecord, '_id' | keyof typeof foundMembers>

/** Statements on `checkpoints`: the logs of threads, each of which was found as its owner's. */
export const logStore = ({ checkpoints }: Pick<Collections, 'checkpoints'>) => ({
  find: async (threadId: string, id: string) =>
    checkpoints.findOne({ _id: id, thread_id: threadId }).lean<CheckpointRecord>(),

  findStep: async (threadId: string, runId: string, step: number) =>
    checkpoints.findOne({ thread_id: threadId, run_id: runId, step }).lean<CheckpointRecord>(),

  hasStep: async (threadId: string, runId: string, step: number) =>
    (await checkpoints.exists({ thread_id: threadId, run_id: runId, step })) !== null,

  async seqOf(threadId: string, id: string): Promise<number | undefined> {
    return (await checkpoints.findOne({ _id: id, thread_id: threadId }, { seq: 1 }).lean())?.seq
  },

  /** The entries of an item: those of a run, or the one that a caller has added; oldest first. */
  listOfItem: async (threadId: string, id: string) =>
    checkpoints
      .find({ thread_id: threadId, $or: [{ _id: id }, { run_id: id }] })
      .sort({ seq: 1 })
      .lean<CheckpointRecord[]>(),

  listOfRun: async ({ _id, thread_id }: RunKey) =>
    checkpoints.find({ thread_id, run_id: _id }).lean<CheckpointRecord[]>(),

  /** The number of the last entry of a run, or of the first. */
  async seqOfRun(threadId: string, runId: string, end: 'first' | 'last'): Promise<number | undefined> {
    const found = await checkpoints
      .findOne({ thread_id: threadId, run_id: runId }, { seq: 1 })
      .sort({ step: end === 'first' ? 1 : -1 })
      .lean<Pick<CheckpointRecord, 'seq'>>()
    return found?.seq
  },

  /** The same of an item. */
  async seqOfItem(threadId: string, id: string, end: 'first' | 'last'): Promise<number | undefined> {
    const found = await checkpoints
      .findOne({ thread_id: threadId, $or: [{ _id: id }, { run_id: id }] }, { seq: 1 })
      .sort({ seq: end === 'first' ? 1 : -1 })
      .lean<Pick<CheckpointRecord, 'seq'>>()
    return found?.seq
  },

  listRange: async (threadId: string, seq: object | undefined, sort: 1 | -1, most: number) =>
    checkpoints
      .find({ thread_id: threadId, ...(seq === undefined ? {} : { seq }) })
      .sort({ seq: sort })
      .limit(most)
      .lean<CheckpointRecord[]>(),

  /** The caller checks whose thread it is. */
  findThreadOfAny: async (id: string) =>
    checkpoints.findOne({ _id: id }, { thread_id: 1 }).lean<Pick<CheckpointRecord, 'thread_id'>>(),

  /** The answers of a run. */
  listSteps: async ({ _id, thread_id }: RunKey) =>
    checkpoints.find({ thread_id, run_id: _id, source: 'step' }).lean<CheckpointRecord[]>(),

  /** Newest first. */
  listBefore: async (threadId: string, seq: number | undefined, most: number) =>
    checkpoints
      .find({ thread_id: threadId, ...(seq === undefined ? {} : { seq: { $lt: seq } }) })
      .sort({ seq: -1 })
      .limit(most)
      .lean<CheckpointRecord[]>(),

  /** Oldest first; with a run, what others than it have added. */
  listSince: async (threadId: string, seq: number, most: number, exceptRun?: string) =>
    checkpoints
      .find({
        thread_id: threadId,
        seq: { $gt: seq },
        ...(exceptRun === undefined ? {} : { run_id: { $ne: exceptRun } }),
      })
      .sort({ seq: 1 })
      .limit(most)
      .lean<CheckpointRecord[]>(),

  listWithSystemBefore: async (threadId: string, seq: number) =>
    checkpoints
      .find({ thread_id: threadId, seq: { $lt: seq }, messages_json: systemMessageInJson })
      .sort({ seq: 1 })
      .lean<CheckpointRecord[]>(),

  /**
   * Oldest first, one by one. The caller closes it. Steps are numbered within their run as entries are within their
   * thread.
   */
  open: (filter: LogFilter, batchSize: number) =>
    checkpoints
      .find(filter)
      .sort([['run_id' in filter ? 'step' : 'seq', 1]])
      .lean<CheckpointRecord>()
      .cursor({ batchSize }),

  addAll: async (entries: CheckpointRecord[], session: ClientSession) =>
    checkpoints.insertMany(entries, { session, lean: true }),

  /** Entries of a project with a word, newest first: the caller sees to it whose threads they are. */
  listWithWord: async (
    projectId: string,
    { word, before, most }: { word: string; before: number | undefined; most: number },
  ) =>
    checkpoints
      .find(
        {
          'search.project_id': projectId,
          'search.words': word,
          ...(before === undefined ? {} : { 'search.at': { $lt: before } }),
        },
        { thread_id: 1, search: 1 },
      )
      .sort({ 'search.at': -1 })
      .limit(most)
      .lean<SearchedEntry[]>(),

  listFound: async (ids: string[], threadIds: string[]) =>
    checkpoints.find({ _id: { $in: ids }, thread_id: { $in: threadIds } }, foundMembers).lean<FoundEntry[]>(),

  /** For an erasure: oldest first, as they are at that moment. */
  openErasable: (threadId: string, runIds?: string[]) =>
    checkpoints
      .find({ thread_id: threadId, ...(runIds === undefined ? {} : { run_id: { $in: runIds } }) }, erasedMembers)
      .sort({ seq: 1 })
      .lean<ErasableEntry>()
      .cursor({ batchSize: 8 }),

  findErasable: async (threadId: string, id: string) =>
    checkpoints.findOne({ _id: id, thread_id: threadId }, erasedMembers).lean<ErasableEntry>(),

  /** Changes an entry that is as it was read. */
  change: async (threadId: string, { _id, messages_json }: ErasableEntry, $set: object) =>
    checkpoints.updateOne({ _id, thread_id: threadId, messages_json }, { $set }),
})
