import { unwrap } from '../src/create-client.ts'
import type { Message } from '../src/fold-messages.ts'
import { type RunSnapshot, followRun } from '../src/follow-run.ts'
import { Failure, exitCodes } from './failure.ts'
import type { Service } from './service.ts'
import { note, out, plain, plainLine } from './terminal.ts'

export interface Answer {
  run_id: string
  thread_id: string
  status: 'success' | 'interrupted' | 'failed' | 'cancelled'
  text: string
  sources: string[]
  error?: string
}

/**
 * Follows a run to its end, over lost connections, and shows the text of its answers as it grows (not with `quiet`).
 * Aborting `signal` stops reading; the run goes on.
 */
export async function showRun(
  service: Service,
  runId: string,
  { quiet = false, signal }: { quiet?: boolean; signal?: AbortSignal } = {},
): Promise<Answer> {
  const shown = new Map<string, string>()
  let last: RunSnapshot | undefined
  let wasLost = false
  const stop = signal === undefined ? {} : { signal }
  for await (const snapshot of followRun({ baseUrl: service.url, token: () => service.token, runId, ...stop })) {
    last = snapshot
    const isLost = snapshot.connection === 'reconnecting'
    if (isLost && !wasLost && !quiet) note('\nThe connection is lost; trying again …')
    wasLost = isLost
    if (!quiet) for (const message of snapshot.messages) showGrowth(message, shown)
  }
  if (!quiet && shown.size > 0) out('\n')
  const messages = last?.messages ?? []
  const run = await unwrap(service.api.GET('/runs/{run_id}', { params: { path: { run_id: runId } } }))
  const isEnded = last !== undefined && last.status !== 'running'
  return {
    run_id: runId,
    thread_id: run.thread_id,
    status: statusOf(run.status, isEnded),
    text: textOf(messages),
    sources: sourcesOf(messages),
    ...(last?.error !== undefined && { error: last.error.message }),
  }
}

/** How a command ends after its answer: prints what was not shown yet, and throws for a run that did not succeed. */
export function finish(answer: Answer, asJson: boolean): void {
  if (asJson) out(`${JSON.stringify(answer)}\n`)
  else if (answer.sources.length > 0) out(`\nSources:\n${answer.sources.map((source) => `- ${source}\n`).join('')}`)
  if (answer.status === 'interrupted')
    throw new Failure(`Run ${answer.run_id} waits for a decision: open it in the console.`, exitCodes.waits)
  if (answer.status === 'cancelled') throw new Failure('The run was cancelled.')
  if (answer.status === 'failed') throw new Failure(plainLine(answer.error ?? 'The run failed.'))
}

function statusOf(status: string, isEnded: boolean): Answer['status'] {
  if (status === 'success' || status === 'interrupted' || status === 'cancelled') return status
  return isEnded ? 'failed' : 'cancelled'
}

const isAnswer = (message: Message) => message.type === 'AIMessage'
const textOf = (messages: Message[]) =>
  messages
    .filter(isAnswer)
    .map(({ data }) => plain(String(data.content)))
    .filter(Boolean)
    .join('\n\n')

function showGrowth(message: Message, shown: Map<string, string>): void {
  const text = isAnswer(message) ? plain(String(message.data.content)) : ''
  const id = String(message.data.id)
  const before = shown.get(id)
  if (text === (before ?? '')) return
  // Another attempt of the service began the answer anew.
  if (before !== undefined && !text.startsWith(before)) out(`\n\n${text}`)
  else out(`${before === undefined && shown.size > 0 ? '\n\n' : ''}${text.slice(before?.length ?? 0)}`)
  shown.set(id, text)
}

/** The files, with pages, that searches of the run have found, each once. */
function sourcesOf(messages: Message[]): string[] {
  const sources = messages.flatMap(({ type, data }) => {
    const content = String(data.content)
    if (type !== 'ToolMessage' || !content.startsWith('{"passages"')) return []
    try {
      const { passages } = JSON.parse(content) as { passages: { file_name?: unknown; page?: unknown }[] }
      return passages.map(({ file_name: name, page }) =>
        plainLine(typeof page === 'number' ? `${String(name)}, page ${page}` : String(name)),
      )
    } catch {
      return []
    }
  })
  return [...new Set(sources)]
}
