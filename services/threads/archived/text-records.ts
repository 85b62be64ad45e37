import type { ClientSession } from 'mongoose'
import { systemMessageInJson } from '../../../domain/messages.ts'
import { parseOwnJson } from '../../../domain/own-json.ts'
import { type After, pagesById } from '../../../domain/pages-by-id.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { CheckpointRecord } from '../../../domain/records/thread.ts'
import type { ToolCallRecord } from '../../../domain/records/tool-call.ts'
import type { Collections } from '../../collections.ts'
import type { ArchivedText, TextKind } from './format.ts'

export type TextCollections = Pick<Collections, 'checkpoints' | 'runs' | 'toolCalls'>

/** A record with a text that can be archived, or the part of it that was asked for. */
export type TextRecord = { thread_id: string } & Partial<
  Pick<CheckpointRecord, 'messages_json'> & Pick<RunRecord, 'input_json'> & Pick<ToolCallRecord, 'args_json' | 'result'>
>

/** How a record with this text is selected, and what changes in it. */
type ChangeOf = (kind: TextKind, text: string) => { from: object; update: object }

type Call = Pick<ToolCallRecord, 'args_json' | 'result'>

/** Messages are up to two megabytes each. */
const readAtOnce = 64
const changedAtOnce = 500

/** Whether the text is in an object: each record has a text, so that an empty one was moved. */
export function isArchived({ messages_json: messages, input_json: input, args_json: args }: TextRecord): boolean {
  return [messages, input, args].includes('')
}

export const kindOf = (record: TextRecord): TextKind =>
  'messages_json' in record ? 'entry' : 'input_json' in record ? 'run' : 'call'

/** What a record has while its text is not in an object; without a text, what one has that says nothing. */
export function membersOf(kind: TextKind, text: string | undefined): Partial<TextRecord> {
  if (kind === 'entry') return { messages_json: text ?? '[]' }
  if (kind === 'run') return { input_json: text ?? '[]' }
  return text === undefined ? { args_json: '{}' } : parseOwnJson<Call>(text)
}

export type TextRecords = ReturnType<typeof createTextRecords>

/** The records of a thread whose texts are archived: entries of the log, runs with their inputs, calls with their results. */
export function createTextRecords({ checkpoints, runs, toolCalls }: TextCollections) {
  return {
    /** The texts that are in the records. Those with system messages stay: conversations search the log for them. */
    async *texts(threadId: string): AsyncGenerator<ArchivedText> {
      for await (const { _id, messages_json: text } of entriesOf(threadId))
        if (text !== '' && !systemMessageInJson.test(text)) yield [_id, text]
      const someRuns = pagesById(readAtOnce, (after: After<string>, limit) =>
        runs
          .find({ thread_id: threadId, ...after }, { input_json: 1 })
          .sort({ _id: 1 })
          .limit(limit)
          .lean<Pick<RunRecord, '_id' | 'input_json'>[]>(),
      )
      for await (const page of someRuns)
        for (const { _id, input_json: text } of page) if (text !== '') yield [_id, text, 'run']
      const someCalls = pagesById(readAtOnce, (after: After<string>, limit) =>
        toolCalls
          .find({ thread_id: threadId, ...after }, { args_json: 1, result: 1 })
          .sort({ _id: 1 })
          .limit(limit)
          .lean<({ _id: string } & Call)[]>(),
      )
      for await (const page of someCalls)
        for (const { _id, ...call } of page) if (call.args_json !== '') yield [_id, JSON.stringify(call), 'call']
    },

    /** Reads a record's text again; undefined if the record is gone. */
    async read(
      kind: TextKind,
      { _id, thread_id }: { _id: string; thread_id: string },
    ): Promise<TextRecord | undefined> {
      const key = { _id, thread_id }
      const found =
        kind === 'entry'
          ? await checkpoints.findOne(key, { thread_id: 1, messages_json: 1 }).lean<TextRecord>()
          : kind === 'run'
            ? await runs.findOne(key, { thread_id: 1, input_json: 1 }).lean<TextRecord>()
            : await toolCalls.findOne(key, { thread_id: 1, args_json: 1, result: 1 }).lean<TextRecord>()
      return found ?? undefined
    },

    /** Leaves the records empty, and says how many there were. One that was changed stays as it is. */
    takeOut: (threadId: string, texts: ArchivedText[], session: ClientSession): Promise<number> =>
      change(threadId, texts, session, (kind, text) => {
        if (kind === 'entry') return { from: { messages_json: text }, update: { $set: { messages_json: '' } } }
        if (kind === 'run') return { from: { input_json: text }, update: { $set: { input_json: '' } } }
        const { args_json, result } = parseOwnJson<Call>(text)
        const from = { args_json, result: result ?? { $exists: false } }
        return { from, update: { $set: { args_json: '' }, $unset: { result: 1 } } }
      }),

    /** Records that are not empty, or are gone, stay as they are. */
    putBack: (threadId: string, texts: ArchivedText[], session: ClientSession): Promise<number> =>
      change(threadId, texts, session, (kind, text) => {
        const from = kind === 'entry' ? { messages_json: '' } : kind === 'run' ? { input_json: '' } : { args_json: '' }
        return { from, update: { $set: membersOf(kind, text) } }
      }),
  }

  async function* entriesOf(threadId: string) {
    for (let last = 0; ;) {
      const page = await checkpoints
        .find({ thread_id: threadId, seq: { $gt: last } }, { seq: 1, messages_json: 1 })
        .sort({ seq: 1 })
        .limit(readAtOnce)
        .lean<Pick<CheckpointRecord, '_id' | 'seq' | 'messages_json'>[]>()
      yield* page
      if (page.length < readAtOnce) return
      last = page.at(-1)?.seq ?? last
    }
  }

  async function change(
    threadId: string,
    texts: ArchivedText[],
    session: ClientSession,
    changeOf: ChangeOf,
  ): Promise<number> {
    let changed = 0
    for (let start = 0; start < texts.length; start += changedAtOnce) {
      const some = Map.groupBy(texts.slice(start, start + changedAtOnce), ([, , kind = 'entry']) => kind)
      for (const [kind, ofKind] of some) {
        const { modifiedCount } =
          kind === 'entry'
            ? await checkpoints.bulkWrite(statementsOf({ thread_id: threadId }, ofKind, changeOf), { session })
            : kind === 'run'
              ? await runs.bulkWrite(statementsOf({ thread_id: threadId }, ofKind, changeOf), { session })
              : await toolCalls.bulkWrite(statementsOf({ thread_id: threadId }, ofKind, changeOf), { session })
        changed += modifiedCount
      }
    }
    return changed
  }
}

/** `_id` comes first: see docs/traps.md, The embedded database. */
function statementsOf(key: { thread_id: string }, texts: ArchivedText[], changeOf: ChangeOf) {
  return texts.map(([_id, text, kind = 'entry']) => {
    const { from, update } = changeOf(kind, text)
    return { updateOne: { filter: { _id, ...key, ...from }, update } }
  })
}
