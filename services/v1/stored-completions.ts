import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError, ifFound } from '../../domain/errors.ts'
import { toJsonText } from '../../domain/json.ts'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { Metadata } from '../../domain/metadata.ts'
import { runKey } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import type { PageQuery } from '../cursor-page.ts'
import type { Caller } from '../owner.ts'
import type { Page } from '../page.ts'
import type { Runs } from '../runs/index.ts'
import { type CompletionRun, completionStore } from './store.ts'

interface StoredCompletionsDeps {
  collections: Pick<Collections, 'runs'>
  runs: Pick<Runs, 'output'>
  deletions: { deleteThread(caller: Caller, threadId: string): Promise<DeletionResult> }
}

/** A stored completion: the run of its first choice, and the answers of all choices. */
export interface StoredCompletion {
  run: CompletionRun
  answers: Message[][]
}

interface CompletionFilter {
  model?: string | undefined
  /** Members of its metadata. */
  metadata?: Metadata
}

/** Metadata as a run's record has it for filters. */
export const tagsOf = (metadata: Metadata): string[] => Object.entries(metadata).map((pair) => JSON.stringify(pair))

/** The completions that a caller has stored in a project. Those whose run has not ended with an answer are not shown. */
export function createStoredCompletions(deps: StoredCompletionsDeps) {
  const { deletions } = deps
  const completions = completionStore(deps.collections)
  const { output } = deps.runs

  async function find(caller: Caller, runId: string): Promise<CompletionRun> {
    const run = await completions.find(caller, runId)
    if (run === null) throw new AppError('not_found', 'There is no such stored completion.')
    return run
  }

  async function withAnswers(run: CompletionRun): Promise<StoredCompletion> {
    const others = (run.completion.others ?? []).map(({ run_id: _id, thread_id }) => ({ _id, thread_id }))
    const answers: Message[][] = []
    for (const key of [runKey(run), ...others]) answers.push((await output({ ...key, user_id: run.user_id })).messages)
    return { run, answers }
  }

  return {
    read: async (caller: Caller, runId: string): Promise<StoredCompletion> => withAnswers(await find(caller, runId)),

    async list(caller: Caller, page: PageQuery, filter: CompletionFilter): Promise<Page<StoredCompletion>> {
      const tags = tagsOf(filter.metadata ?? {}).map((tag) => ({ 'completion.tags': tag }))
      const wanted = {
        ...(filter.model === undefined ? {} : { 'completion.model': filter.model }),
        ...(tags.length === 0 ? {} : { $and: tags }),
      }
      const { entries, hasMore } = await completions.page(caller, page, wanted)
      const found: StoredCompletion[] = []
      for (const run of entries) found.push(await withAnswers(run))
      return { entries: found, hasMore }
    },

    /** Replaces the metadata. */
    async update(caller: Caller, runId: string, metadata: Metadata): Promise<StoredCompletion> {
      const change = { metadata_json: toJsonText(metadata), 'completion.tags': tagsOf(metadata) }
      const found = await find(caller, runId)
      const run = await completions.change(caller, found, change)
      if (run === null) throw new AppError('not_found', 'There is no such stored completion.')
      return withAnswers(run)
    },

    /** Deletes the threads of all choices, with everything that belongs to them. */
    async remove(caller: Caller, runId: string): Promise<DeletionResult> {
      const run = await find(caller, runId)
      for (const { thread_id: threadId } of run.completion.others ?? [])
        await ifFound(deletions.deleteThread(caller, threadId))
      return deletions.deleteThread(caller, run.thread_id)
    },

    /** The messages of the request. */
    async input(caller: Caller, runId: string): Promise<Message[]> {
      return messagesFromJson((await find(caller, runId)).input_json)
    },
  }
}
