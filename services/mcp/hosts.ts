import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { createFiles } from '../knowledge/files.ts'
import type { createPassages } from '../knowledge/passages.ts'
import type { Passage } from '../knowledge/retrieve.ts'
import { type Caller, type Owner, ownerOf, personAmong } from '../owner.ts'
import type { Page, PageRange } from '../page.ts'
import type { PublicFamily } from '../public/index.ts'
import type { FollowedRun, RunFeed, Runs } from '../runs/index.ts'
import { threadRecordOf } from '../threads/create-thread.ts'

/** What a program may do with one assistant. */
export interface McpHost {
  assistant: AssistantRecord
  /** Starts a run with the question on the thread, or on a new one. */
  ask: (question: string, threadId: string | undefined, runId: string) => Promise<FollowedRun>
  /** A run of this caller; any other is `not_found`. */
  find: (runId: string) => Promise<RunRecord>
  follow: (run: RunRecord) => Promise<RunFeed>
  cancel: (run: RunRecord) => Promise<unknown>
  search: (query: string, limit: number, signal: AbortSignal) => Promise<Passage[]>
  /** Undefined for public callers: they are quoted passages, but may not read whole files. */
  files?: {
    list: (range: PageRange) => Promise<Page<FileRecord>>
    /** The text of a file from a chunk on; `next` is the chunk after the last one. */
    text: (fileId: string, from: number) => Promise<{ text: string; next?: number }>
  }
}

interface McpDeps {
  assistants: { readOwn(owner: Owner, assistantId: string): Promise<AssistantRecord> }
  threads: { requireContinuable(caller: Caller, threadId: string): Promise<ThreadRecord> }
  runs: Pick<Runs, 'startFollowed' | 'follow' | 'requireControl' | 'cancel'>
  publicFamily: Pick<PublicFamily, 'start' | 'runsOf' | 'cancel' | 'threads'>
  passages: Pick<ReturnType<typeof createPassages>, 'search' | 'ofFile'>
  files: Pick<ReturnType<typeof createFiles>, 'list'>
}

const nameLength = 80
const byAnybody = { person: 'nameless', origin: 'mcp' } as const
const chunksOfOneRead = 50

export type McpHosts = ReturnType<typeof createMcpHosts>

/** One assistant as other programs use it, for its owner and for callers without an account. */
export function createMcpHosts({ assistants, threads, runs, publicFamily, passages, files }: McpDeps) {
  const search =
    (assistant: AssistantRecord): McpHost['search'] =>
    (query, limit, signal) =>
      passages.search(assistant, query, limit, signal)
  const message = (question: string) => [{ type: 'HumanMessage' as const, data: { id: newId(), content: question } }]

  return {
    /** For the holder of the project, and for its members. */
    async ofOwner(caller: Caller, assistantId: string): Promise<McpHost> {
      const { userId, projectId } = caller
      const assistant = await assistants.readOwn(ownerOf(caller), assistantId)
      if (assistant.project_id !== projectId) throw new AppError('not_found', 'There is no such assistant.')
      const newThread = (question: string) =>
        threadRecordOf({
          id: newId(),
          userId,
          projectId,
          assistantId,
          name: cutText(question, nameLength),
          metadataJson: '{}',
          public: false,
        })
      return {
        assistant,
        ask: async (question, threadId, runId) => {
          const isNew = threadId === undefined
          const thread = isNew ? newThread(question) : await threads.requireContinuable(caller, threadId)
          if (thread.project_id !== projectId && caller.holderId !== undefined)
            throw new AppError('not_found', 'There is no such thread.')
          return runs.startFollowed(
            {
              thread,
              withThread: isNew,
              assistant,
              userId,
              acting: { person: personAmong(caller, thread), origin: 'mcp' },
              input: message(question),
              strategy: 'enqueue',
            },
            runId,
          )
        },
        find: (runId) => runs.requireControl(caller, runId),
        follow: (run) => runs.follow(run),
        cancel: (run) => runs.cancel(run),
        search: search(assistant),
        files: {
          list: (range) => files.list(assistantId, range),
          async text(fileId, from) {
            const { page } = await passages.ofFile(assistantId, fileId, { offset: from, limit: chunksOfOneRead })
            const text = page.entries.map((chunk) => chunk.text).join('\n\n')
            return { text, ...(page.hasMore ? { next: from + page.entries.length } : {}) }
          },
        },
      }
    },

    ofPublic(assistant: AssistantRecord): McpHost {
      return {
        assistant,
        ask: async (question, threadId, runId) => {
          const isNew = threadId === undefined
          const thread = isNew
            ? publicFamily.threads.draft(assistant)
            : await publicFamily.threads.read(assistant, threadId)
          const requested = { thread, withThread: isNew, assistant, acting: byAnybody, input: message(question) }
          return publicFamily.start({ ...requested, strategy: 'enqueue' }, runId)
        },
        ...publicFamily.runsOf(assistant),
        cancel: (run) => publicFamily.cancel(run),
        search: search(assistant),
      }
    },
  }
}
