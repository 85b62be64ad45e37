import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import type { Message } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { type Page, type PageRange, firstPage } from '../page.ts'
import type { Conversations } from '../threads/conversations.ts'
import { type OpenQuestion, type QuestionGroup, groupQuestions } from './group-questions.ts'
import { type ListedThread, insightStore } from './store.ts'

interface InsightsDeps {
  collections: Pick<Collections, 'threads' | 'runs' | 'feedback' | 'checkpoints' | 'toolCalls'>
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
  conversations: Pick<Conversations, 'read'>
}

export interface VisitorChat {
  threadId: string
  /** The first one. */
  question: string
  runs: number
  failed: number
  up: number
  down: number
  createdAt: Date
  updatedAt: Date
}

interface RatedFeedback {
  feedbackId: string
  /** By a visitor of the public chat. */
  isVisitor: boolean
  threadId: string
  /** What it is about: `thumb` from the console and the chats of visitors. */
  key: string
  score: number | undefined
  reason: string | undefined
  comment: string | undefined
  /** Undefined: of a chat that the caller does not see. */
  question: string | undefined
  answer: string | undefined
  createdAt: Date
}

/** How much is looked at; what is older is seen in exports. */
const most = { threads: 300, runs: 1000, feedback: 500, questions: 300 } as const
const shownLength = 1000
const readBytes = 512 * 1024
const thumb = 'thumb'

/**
 * What the owner of an assistant sees of how it is used: the chats of visitors, if the assistant says that it keeps them;
 * what people say about answers; and questions that were not answered well.
 */
export function createInsights({ collections, assistantConfigs, conversations }: InsightsDeps) {
  const store = insightStore(collections)
  const keeps = (assistant: AssistantRecord) => assistantConfigs.settingsOf(assistant).keepsChats

  function requireRetained(assistant: AssistantRecord): void {
    if (!keeps(assistant))
      throw new AppError('forbidden', 'This assistant does not say that chats of visitors are kept (keeps_chats).')
  }

  /** Those that are shown to the caller: of visitors, and chats that he sees anyway. */
  function isSeen({ userId, projectId }: Caller, thread: ListedThread): boolean {
    if (thread.public) return true
    return thread.user_id === userId || (thread.visibility === 'project' && thread.project_id === projectId)
  }

  return {
    /** Throws `forbidden` unless the assistant says that they are kept. */
    async chats(assistant: AssistantRecord, range: PageRange): Promise<Page<VisitorChat>> {
      requireRetained(assistant)
      const { entries, hasMore } = await store.visitorThreads(assistant._id, range)
      const ids = entries.map(({ _id }) => _id)
      const [runs, said] = await Promise.all([store.runsOf(ids, most.runs), store.feedbackOf(ids, most.feedback)])
      const runsBy = Map.groupBy(runs, ({ thread_id: id }) => id)
      const saidBy = Map.groupBy(latest(said), ({ thread_id: id }) => id)
      const chats = entries.map(({ _id, created_at: createdAt, updated_at: updatedAt }) => {
        const own = runsBy.get(_id) ?? []
        const thumbs = (saidBy.get(_id) ?? []).filter(({ key }) => key === thumb).map(scoreOf)
        return {
          threadId: _id,
          question: own[0]?.question ?? '',
          runs: own.length,
          failed: own.filter(({ status }) => status === 'error').length,
          up: thumbs.filter((score) => score === 1).length,
          down: thumbs.filter((score) => score === 0).length,
          createdAt,
          updatedAt,
        }
      })
      return { entries: chats, hasMore }
    },

    /** The end of the chat of a visitor: what was asked and answered. Throws `not_found` for any other. */
    async chat(assistant: AssistantRecord, threadId: string): Promise<{ isPerson: boolean; text: string }[]> {
      requireRetained(assistant)
      if ((await store.visitorThread(assistant._id, threadId)) === null)
        throw new AppError('not_found', 'There is no such chat.')
      const { messages } = await conversations.read(threadId, readBytes)
      return messages.flatMap(({ type, data }: Message) =>
        (type === 'HumanMessage' || type === 'AIMessage') && data.content !== ''
          ? [{ isPerson: type === 'HumanMessage', text: data.content }]
          : [],
      )
    },

    /** What people said about its answers, the newest first. The words of chats only where the caller sees them. */
    async feedback(caller: Caller, assistant: AssistantRecord, range: PageRange): Promise<Page<RatedFeedback>> {
      const all = await store.threadsOf(assistant._id, most.threads)
      const threads = new Map(all.filter((one) => !one.public || keeps(assistant)).map((one) => [one._id, one]))
      const said = latest(await store.feedbackOf([...threads.keys()], most.feedback))
      const page = firstPage(said.slice(range.offset), range.limit)
      const about = new Set(page.entries.map(({ thread_id: id }) => id))
      const seen = [...threads.values()].filter((thread) => about.has(thread._id) && isSeen(caller, thread))
      const runs = await store.runsOf(
        seen.map(({ _id }) => _id),
        most.runs,
      )
      const shown = runs.filter(({ _id }) => page.entries.some(({ run_id: id }) => id === _id))
      const [byId, answers] = [new Map(shown.map((run) => [run._id, run])), await store.answersOf(shown)]
      const entries = page.entries.map((record) => {
        const run = byId.get(record.run_id)
        return {
          feedbackId: record._id,
          isVisitor: threads.get(record.thread_id)?.public === true,
          threadId: record.thread_id,
          key: record.key,
          score: scoreOf(record),
          reason: reasonOf(record),
          comment: record.comment,
          question: run?.question,
          answer: run && (answers.get(run._id) ?? ''),
          createdAt: record.created_at,
        }
      })
      return { entries, hasMore: page.hasMore }
    },

    /**
     * Questions of visitors whose searches found nothing, whose runs failed, or whose answers were disliked, put together
     * by their words. Throws `forbidden` unless the assistant says that chats are kept.
     */
    async openQuestions(assistant: AssistantRecord): Promise<QuestionGroup[]> {
      requireRetained(assistant)
      const { entries } = await store.visitorThreads(assistant._id, { limit: most.threads, offset: 0 })
      const ids = entries.map(({ _id }) => _id)
      const [runs, said, inVain] = await Promise.all([
        store.runsOf(ids, most.runs),
        store.feedbackOf(ids, most.feedback),
        store.inVain(ids),
      ])
      const disliked = new Set(
        latest(said)
          .filter((one) => one.key === thumb && scoreOf(one) === 0)
          .map(({ run_id: id }) => id),
      )
      const questions = runs.flatMap((run): OpenQuestion[] => {
        const reasons: OpenQuestion['reasons'] = [
          ...(inVain.has(run._id) ? (['not_found'] as const) : []),
          ...(run.status === 'error' ? (['failed'] as const) : []),
          ...(disliked.has(run._id) ? (['disliked'] as const) : []),
        ]
        if (reasons.length === 0 || run.question === '') return []
        return [{ question: run.question, threadId: run.thread_id, askedAt: run.created_at, reasons }]
      })
      return groupQuestions(questions.slice(-most.questions))
    },
  }
}

/** Whoever changes his mind has said only the last. `said` is sorted, the newest first. */
function latest(said: FeedbackRecord[]): FeedbackRecord[] {
  const known = new Set<string>()
  return said.filter(({ run_id: runId, user_id: userId, key }) => {
    const id = JSON.stringify([runId, userId, key])
    if (known.has(id)) return false
    known.add(id)
    return true
  })
}

function scoreOf({ score }: Pick<FeedbackRecord, 'score'>): number | undefined {
  return score === undefined ? undefined : Number(score)
}

/** The word that the console and the bubble send with a thumb. */
function reasonOf({ value_json: json }: FeedbackRecord): string | undefined {
  if (json === undefined) return undefined
  const { value } = JSON.parse(json) as { value: unknown }
  return typeof value === 'string' ? cutText(value, shownLength) : undefined
}
