import { cutText } from '../../domain/cut-text.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'

type StoredRun = Pick<RunRecord, '_id' | 'thread_id' | 'input_json' | 'status' | 'created_at'>
/** A run with what was asked in place of its input, which may have megabytes. */
export type ListedRun = Omit<StoredRun, 'input_json'> & { question: string }
export type ListedThread = Pick<
  ThreadRecord,
  '_id' | 'user_id' | 'project_id' | 'visibility' | 'public' | 'created_at' | 'updated_at'
>

const threadMembers = { user_id: 1, project_id: 1, visibility: 1, public: 1, created_at: 1, updated_at: 1 } as const
const runMembers = { thread_id: 1, input_json: 1, status: 1, created_at: 1 } as const
/** Not those that no list shows, or whose callers do not want them kept. */
const retained = {
  deleting: { $ne: true },
  expires_at: { $exists: false },
  asked_from: { $exists: false },
  container: { $exists: false },
} as const
const listedBytes = 500
/** Of the inputs or answers of runs: what is longer is not shown, and nothing beyond all together. */
const readLimits = { one: 256 * 1024, all: 16 * 1024 * 1024 } as const
const searchesRead = 10_000
const shownLength = 1000
/** The result of a search that found no passage. */
const foundNothing = /^\{"passages":\[\]/

/** The statements about what people asked an assistant. Whoever asks has the right to change the assistant. */
export const insightStore = ({
  threads,
  runs,
  feedback,
  checkpoints,
  toolCalls,
}: Pick<Collections, 'threads' | 'runs' | 'feedback' | 'checkpoints' | 'toolCalls'>) => ({
  /** The chats of visitors with an assistant, those used last first. */
  visitorThreads: (assistantId: string, range: PageRange): Promise<Page<ListedThread>> =>
    readPage(
      threads
        .find({ assistant_id: assistantId, public: true, ...retained }, threadMembers)
        .sort({ updated_at: -1, _id: -1 })
        .lean<ListedThread>(),
      range,
      () => listedBytes,
    ),

  visitorThread: (assistantId: string, threadId: string): Promise<ListedThread | null> =>
    threads
      .findOne({ _id: threadId, assistant_id: assistantId, public: true, ...retained }, threadMembers)
      .lean<ListedThread>()
      .exec(),

  /** All its chats, those used last first. */
  threadsOf: (assistantId: string, most: number): Promise<ListedThread[]> =>
    threads
      .find({ assistant_id: assistantId, ...retained }, threadMembers)
      .sort({ updated_at: -1, _id: -1 })
      .limit(most)
      .lean<ListedThread[]>()
      .exec(),

  /** The newest runs of these threads, oldest first. */
  async runsOf(threadIds: string[], most: number): Promise<ListedRun[]> {
    const found = runs
      .find({ thread_id: { $in: threadIds } }, runMembers)
      .sort({ _id: -1 })
      .limit(most)
      .lean<StoredRun>()
      .cursor({ batchSize: 20 })
    const listed: ListedRun[] = []
    for await (const { input_json: input, ...run } of withinRoom(found, ({ input_json: json }) => json.length))
      listed.push({ ...run, question: input.length > readLimits.one ? '' : questionOf(input) })
    return listed.toReversed()
  },

  /** What was said about the runs of these threads, the newest first. */
  feedbackOf: (threadIds: string[], most: number): Promise<FeedbackRecord[]> =>
    feedback
      .find({ thread_id: { $in: threadIds } })
      .sort({ _id: -1 })
      .limit(most)
      .lean<FeedbackRecord[]>()
      .exec(),

  /** The last answer of each of these runs. */
  async answersOf(found: Pick<ListedRun, '_id' | 'thread_id'>[]): Promise<Map<string, string>> {
    const of = {
      thread_id: { $in: [...new Set(found.map(({ thread_id: id }) => id))] },
      run_id: { $in: found.map(({ _id }) => _id) },
      source: 'step' as const,
    }
    const steps = checkpoints
      .find(of, { run_id: 1, seq: 1, messages_json: 1 })
      .sort({ seq: 1 })
      .lean<CheckpointRecord>()
      .cursor({ batchSize: 20 })
    const answers = new Map<string, string>()
    for await (const step of withinRoom(steps, ({ messages_json: json }) => json.length)) {
      const { run_id: runId = '', messages_json: json } = step
      if (json.length > readLimits.one) continue
      for (const { type, data } of messagesFromJson(json))
        if (type === 'AIMessage' && data.content !== '') answers.set(runId, cutText(data.content, shownLength))
    }
    return answers
  },

  /** Of the runs of these threads, those that searched and never found anything. */
  async inVain(threadIds: string[]): Promise<Set<string>> {
    const searches = { thread_id: { $in: threadIds }, name: 'retrieval', status: 'done' as const }
    const runsWith = async (result: object) => {
      const found = await toolCalls
        .find({ ...searches, result }, { run_id: 1 })
        .sort({ _id: -1 })
        .limit(searchesRead)
        .lean<Pick<ToolCallRecord, 'run_id'>[]>()
      return new Set(found.map(({ run_id: id }) => id))
    }
    const [nothing, something] = await Promise.all([
      runsWith({ $regex: foundNothing }),
      runsWith({ $not: foundNothing }),
    ])
    return new Set([...nothing].filter((id) => !something.has(id)))
  },
})

/** The first of these records whose lengths are within the limit together. */
async function* withinRoom<T>(records: AsyncIterable<T>, lengthOf: (record: T) => number): AsyncGenerator<T> {
  let room: number = readLimits.all
  for await (const record of records) {
    room -= lengthOf(record)
    if (room < 0) return
    yield record
  }
}

function questionOf(input: string): string {
  const question = messagesFromJson(input).findLast(({ type }) => type === 'HumanMessage')
  return cutText(question?.data.content.trim() ?? '', shownLength)
}
