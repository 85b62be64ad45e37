import type { RunKey } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'

type CallPosition = Pick<ToolCallRecord, 'run_id' | 'step' | 'index'>

/** Statements on `tool_calls`. Their keys name their run. */
export const toolCallStore = ({ toolCalls }: Pick<Collections, 'toolCalls'>) => ({
  findInThread: async (threadId: string, position: CallPosition) =>
    toolCalls.findOne({ ...position, thread_id: threadId }).lean<ToolCallRecord>(),

  /** Those of a run that were made. */
  listMade: async ({ _id, thread_id }: RunKey) =>
    toolCalls
      .find({ run_id: _id, thread_id, status: { $ne: 'waiting' } }, { call_id: 1 })
      .lean<Pick<ToolCallRecord, 'call_id'>[]>(),

  /** Those of runs that wait for their client. */
  listForClient: async (runIds: string[]) =>
    toolCalls
      .find({ run_id: { $in: runIds }, status: 'waiting', client: true })
      .sort({ run_id: 1, step: 1, index: 1 })
      .lean<ToolCallRecord[]>(),

  removeOfRun: async ({ _id, thread_id }: RunKey) => toolCalls.deleteMany({ run_id: _id, thread_id }),

  add: async (call: ToolCallRecord) => toolCalls.create([call]),

  remove: async ({ _id, thread_id }: Pick<ToolCallRecord, '_id' | 'thread_id'>) =>
    toolCalls.deleteOne({ _id, thread_id }),

  /** The number of the newest step of a run that has called tools. */
  async lastStepOf(runId: string): Promise<number | undefined> {
    return (await toolCalls.findOne({ run_id: runId }, { step: 1 }).sort({ step: -1 }).lean())?.step
  },

  listOfStep: async (runId: string, step: number) =>
    toolCalls.find({ run_id: runId, step }).sort({ index: 1 }).lean<ToolCallRecord[]>(),

  /** With what calls of this tool were made that have ended, the newest first. */
  listDone: async (threadId: string, { name, except, most }: { name: string; except: string; most: number }) =>
    toolCalls
      .find({ thread_id: threadId, name, status: 'done', _id: { $ne: except } }, { args_json: 1 })
      .sort({ created_at: -1 })
      .limit(most)
      .lean<Pick<ToolCallRecord, 'args_json'>[]>(),

  /** The key of the newest call of this tool that has `parts`. */
  async newestWithParts(threadId: string, name: string): Promise<string | undefined> {
    const newest = await toolCalls
      .findOne({ thread_id: threadId, name, parts: { $exists: true } }, { _id: 1 })
      .sort({ finished_at: -1 })
      .lean<Pick<ToolCallRecord, '_id'>>()
    return newest?._id
  },
})
