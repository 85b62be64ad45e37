import { objectFromJsonText, parseOwnJson } from '../../../domain/json.ts'
import { type CitedFile, citationsIn, citedFilesOf } from '../../../domain/knowledge/citations.ts'
import type { CutReason } from '../../../domain/messages.ts'
import { publicRunError } from '../../../domain/public-run-error.ts'
import type { RunError, RunStatus } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { ResponseFormat } from '../../../domain/response-format.ts'
import type { Page } from '../../../services/page.ts'
import type { PublicAssistant } from '../../../services/public/index.ts'
import type { LoggedMessage } from '../../../services/public/named-threads.ts'
import type { ListedRun } from '../../../services/runs/index.ts'
import type { CompatMessage, CompatRun, CompatThread } from './thread-schemas.ts'

export const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000)
const maybeSecondsOf = (date: Date | undefined) => (date === undefined ? null : secondsOf(date))

/** A page of a list in the format of the assistants API. */
export function listPage<T extends { id: string }>({ entries, hasMore }: Page<T>) {
  return {
    object: 'list' as const,
    data: entries,
    first_id: entries[0]?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}

export function toCompatThread(thread: ThreadRecord): CompatThread {
  return {
    id: thread._id,
    object: 'thread',
    created_at: secondsOf(thread.created_at),
    metadata: objectFromJsonText(thread.metadata_json),
    tool_resources: null,
  }
}

/** The messages of people and the assistant. Clients are not shown system messages and tools. */
export function isShown({ message }: LoggedMessage): boolean {
  if (isDeleted({ message })) return false
  if (message.type === 'HumanMessage') return true
  return message.type === 'AIMessage' && (message.data.content !== '' || message.data.refusal !== undefined)
}

export const isDeleted = ({ message: { data } }: Pick<LoggedMessage, 'message'>): boolean =>
  'deleted' in data && data.deleted === true

export function toCompatMessage(
  { message, createdAt, runId }: LoggedMessage,
  { threadId, assistantId }: { threadId: string; assistantId: string },
  cited: CitedFile[] = [],
): CompatMessage {
  const created = secondsOf(createdAt)
  const { content: text } = message.data
  const isAnswer = message.type === 'AIMessage'
  const { cut, refusal } = message.type === 'AIMessage' ? message.data : {}
  const isIncomplete = cut !== undefined || (message.type === 'AIMessage' && message.data.incomplete === true)
  const kept = message.type === 'AIMessage' || message.type === 'HumanMessage' ? message.data.metadata : undefined
  return {
    id: message.data.id,
    object: 'thread.message',
    created_at: created,
    completed_at: isIncomplete ? null : created,
    incomplete_at: isIncomplete ? created : null,
    incomplete_details: isIncomplete ? { reason: incompleteReasonOf(cut) } : null,
    thread_id: threadId,
    assistant_id: isAnswer && runId !== undefined ? assistantId : null,
    run_id: runId ?? null,
    role: isAnswer ? 'assistant' : 'user',
    status: isIncomplete ? 'incomplete' : 'completed',
    content: [
      ...(text === '' && refusal !== undefined
        ? []
        : [{ type: 'text' as const, text: { value: text, annotations: isAnswer ? annotationsOf(text, cited) : [] } }]),
      ...(refusal === undefined ? [] : [{ type: 'refusal' as const, refusal }]),
    ],
    attachments: [],
    metadata: kept ?? {},
  }
}

/** The files that the runs of these messages have found. */
export function citedWithin(all: LoggedMessage[], wanted: LoggedMessage[]) {
  const runIds = new Set(wanted.flatMap(({ runId }) => (runId === undefined ? [] : [runId])))
  const cited = citedFilesOf(runIds, all)
  return (entry: LoggedMessage) => cited.get(entry.runId ?? '')
}

/** Why a message ends early: its run failed, if the model did not cut it. */
export function incompleteReasonOf(cut: CutReason | undefined): string {
  return cut === undefined ? 'run_failed' : cut === 'length' ? 'max_tokens' : cut
}

function annotationsOf(answer: string, cited: CitedFile[]) {
  return citationsIn(answer, cited).map(({ text, start, end, fileId, page }) => ({
    type: 'file_citation' as const,
    text,
    start_index: start,
    end_index: end,
    file_citation: { file_id: fileId, ...(page === undefined ? {} : { page }) },
  }))
}

/** A run that waits for its owner's approval is `in_progress`, because its caller can only wait. */
const toStatus: Record<RunStatus, CompatRun['status']> = {
  pending: 'queued',
  running: 'in_progress',
  interrupted: 'in_progress',
  success: 'completed',
  error: 'failed',
  cancelled: 'cancelled',
}

export function toCompatRun(
  run: ListedRun,
  { model, temperature }: Pick<PublicAssistant, 'model' | 'temperature'>,
): CompatRun {
  const status = toStatus[run.status]
  const finished = maybeSecondsOf(run.finished_at)
  return {
    id: run._id,
    object: 'thread.run',
    created_at: secondsOf(run.created_at),
    started_at: maybeSecondsOf(run.started_at),
    completed_at: status === 'completed' ? finished : null,
    cancelled_at: status === 'cancelled' ? finished : null,
    failed_at: status === 'failed' ? finished : null,
    expires_at: null,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    status,
    required_action: null,
    last_error: run.error !== undefined && status === 'failed' ? lastError(run.error) : null,
    incomplete_details: null,
    model,
    instructions: run.overrides.instructions ?? '',
    tools: [],
    metadata: run.metadata_json === undefined ? {} : objectFromJsonText(run.metadata_json),
    temperature: run.overrides.temperature ?? temperature ?? null,
    top_p: run.overrides.top_p ?? null,
    max_prompt_tokens: null,
    max_completion_tokens: run.overrides.max_tokens ?? null,
    truncation_strategy: { type: 'auto', last_messages: null },
    tool_choice: 'auto',
    parallel_tool_calls: true,
    response_format: run.overrides.response_format_json
      ? parseOwnJson<ResponseFormat>(run.overrides.response_format_json)
      : 'auto',
    usage: run.usage ?? null,
  }
}

export function lastError(error: RunError): NonNullable<CompatRun['last_error']> {
  const { status_code: status, message } = publicRunError(error)
  const code = status === 429 ? 'rate_limit_exceeded' : status < 499 ? 'invalid_prompt' : 'server_error'
  return { code, message }
}
