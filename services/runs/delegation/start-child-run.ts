import { AppError } from '../../../domain/errors.ts'
import { newId } from '../../../domain/ids.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import { type RunKey, type RunRecord, actingOf, runKey } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { ChildRunKey, ToolCallRecord } from '../../../domain/records/tool-call.ts'
import type { AssistantConfigs } from '../../assistants/configs.ts'
import { ownAssistantStore } from '../../assistants/store.ts'
import type { Collections } from '../../collections.ts'
import { isDuplicateKey } from '../../duplicate-key.ts'
import { assistantStore } from '../../stores/assistants.ts'
import { threadStore } from '../../stores/threads.ts'
import { threadRecordOf } from '../../threads/create-thread.ts'
import type { Question } from '../../tool.ts'
import type { Askable } from '../../tools/assistant-tool.ts'
import { type CancelRunDeps, cancelRun } from '../end-run.ts'
import type { Runs } from '../index.ts'
import { delegatedRunStore, executedRunStore, ledgerStore, startedRunStore } from '../store.ts'
import { childRunOf } from './child-run.ts'

/** How deep assistants can ask each other. */
const maxDelegationDepth = 3
/** How many questions one run may cause, at all depths. */
const maxQuestions = { own: 50, public: 10 } as const

export interface StartChildRunDeps extends CancelRunDeps {
  collections: Pick<Collections, 'runs' | 'threads' | 'assistants' | 'toolCalls'>
  runs: Pick<Runs, 'start'>
}

interface Call {
  run: RunRecord
  /** The assistant that asks. */
  assistant: Pick<AssistantRecord, '_id' | 'user_id' | 'project_id'>
  call: Pick<ToolCallRecord, '_id' | 'call_id'>
  /** When the time of the asking run is over. */
  deadline: Date | undefined
}

export type StartChildRun = ReturnType<typeof createStartChildRun>

/**
 * Starts the run in which another assistant answers a call, on a thread of its own, unless an earlier attempt has started
 * it. Returns the run, or why the question is not asked, as the model may read it.
 */
export function createStartChildRun(deps: StartChildRunDeps) {
  const { collections } = deps
  const runs = delegatedRunStore(collections)

  return async (parent: Call, { assistantId, question }: Question): Promise<ChildRunKey | string> => {
    const { call } = parent
    const childRun = { assistant_id: assistantId, ...childRunOf(call._id) }
    if (await exists(childRun)) return childRun
    const refused = await refusalOf(parent, assistantId)
    if (refused !== undefined) return `The question was not asked: ${refused}`
    await ledgerStore(collections).noteChildRun(call._id, childRun)
    try {
      await start(parent, childRun, question)
    } catch (error) {
      // Another attempt has stored it meanwhile; the sweep of open runs passes on what that attempt did not.
      if (isDuplicateKey(error) && (await exists(childRun))) return childRun
      // Public callers see what the model is told, and not what the owner's budgets are.
      if (error instanceof AppError)
        return `The question was not asked: ${parent.run.public ? 'nobody can answer it now.' : error.message}`
      throw error
    }
    await endUnlessWanted(parent.run, childRun)
    return childRun
  }

  async function exists({ run_id, thread_id }: ChildRunKey): Promise<boolean> {
    return startedRunStore(collections).exists({ _id: run_id, thread_id })
  }

  async function refusalOf({ run, assistant, call }: Call, assistantId: string): Promise<string | undefined> {
    const parentRuns = parentRunsOf(run)
    if (parentRuns.includes(assistantId))
      return 'this assistant waits for the answer itself. Answer with what you know, and do not ask it back.'
    if (parentRuns.length > maxDelegationDepth)
      return `assistants can ask each other ${maxDelegationDepth} deep at most, and you are asked at that depth. Answer with what you know.`
    if (!(await ownAssistantStore(collections).canDelegateTo(assistant, assistantId)))
      return 'this assistant was deleted, or is not in this project any more.'
    const max = run.public ? maxQuestions.public : maxQuestions.own
    const isCounted = await runs.countQuestion(await rootOf(run), call._id, max)
    return isCounted ? undefined : `one run can ask ${max} questions at most, at all depths.`
  }

  /** The outermost run, by way of the runs between: each names only the thread of the one above it. */
  async function rootOf(run: RunRecord): Promise<RunKey> {
    let key = runKey(run)
    let above = run.asked_by
    while (above !== undefined) {
      key = { _id: above.run_id, thread_id: above.thread_id }
      if (above.run_id === above.root_run_id) break
      above = await runs.askedBy(key)
    }
    return key
  }

  async function start({ run, call, deadline }: Call, childRun: ChildRunKey, question: string): Promise<void> {
    const [assistant, above] = await Promise.all([
      assistantStore(collections).findOfAny(childRun.assistant_id),
      threadStore(collections).findOfAny(run.thread_id),
    ])
    if (assistant === null) throw new AppError('not_found', 'The assistant was deleted.')
    if (above === null) throw new AppError('not_found', 'This conversation is being deleted.')
    await deps.runs.start(
      {
        thread: threadBelow(above, run, childRun, assistant),
        withThread: true,
        assistant,
        input: [{ type: 'HumanMessage', data: { id: newId(), content: question } }],
        strategy: 'enqueue',
        public: run.public,
        acting: { person: actingOf(run).person, origin: 'asked' },
        budgets: run.budgets ?? [],
        askedBy: {
          run_id: run._id,
          thread_id: run.thread_id,
          call_id: call.call_id,
          root_run_id: run.asked_by?.root_run_id ?? run._id,
          assistant_ids: parentRunsOf(run),
          ...(deadline === undefined ? {} : { deadline_at: deadline }),
        },
      },
      childRun.run_id,
    )
  }

  /** The asking run may have ended after it was read: then nothing ends the asked one but this. */
  async function endUnlessWanted(parent: RunKey, { run_id, thread_id }: ChildRunKey): Promise<void> {
    if (!(await executedRunStore(collections).isRunning(parent))) await cancelRun(deps, { _id: run_id, thread_id })
  }
}

/** The assistants that wait when this run asks. */
function parentRunsOf({ asked_by: above, assistant_id: id }: RunRecord): string[] {
  return [...(above?.assistant_ids ?? []), id]
}

function threadBelow(
  above: ThreadRecord,
  run: RunRecord,
  childRun: ChildRunKey,
  { _id: assistantId, name }: AssistantRecord,
): ThreadRecord {
  const publicOf = above.asked_for ?? (above.public ? above.assistant_id : undefined)
  return {
    ...threadRecordOf({
      id: childRun.thread_id,
      userId: run.user_id,
      projectId: run.project_id,
      name,
      metadataJson: '{}',
      assistantId,
      public: false,
      counted: false,
      parentThreads: [...(above.asked_from ?? []), above._id],
    }),
    ...(publicOf === undefined ? {} : { asked_for: publicOf }),
  }
}

interface AskableDeps {
  collections: Pick<Collections, 'assistants'>
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
}

/** Those of the assistants with these ids that an assistant can ask: they are in its project, and not itself. */
export function createAskable({ collections, assistantConfigs }: AskableDeps) {
  return async (parent: AssistantRecord, ids: string[]): Promise<Askable[]> => {
    const others = ids.filter((id) => id !== parent._id)
    const found = await ownAssistantStore(collections).listAskable(parent, others)
    return others.flatMap((id) => {
      const assistant = found.find(({ _id }) => _id === id)
      if (assistant === undefined) return []
      return { id, name: assistant.name, description: assistantConfigs.settingsOf(assistant).description }
    })
  }
}
