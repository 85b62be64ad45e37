import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { FastifyReply } from 'fastify'
import { AppError } from '../../../domain/errors.ts'
import { citationsIn, citedFilesOf } from '../../../domain/knowledge/citations.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { type RunView, wholeMessagesOf } from '../../../domain/run-events.ts'
import type { RunFeed } from '../../../services/runs/index.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { createAnswerProgress } from '../public/completion.ts'
import { waitForEnd } from '../public/run-end.ts'

/** A client is told of progress at most once a second. */
const progressEveryMs = 1000
const noFunctions: ReadonlySet<string> = new Set()

interface AskOptions {
  reply: FastifyReply
  openStreams: OpenStreams
  /** The number of characters so far, and what happens. */
  onProgress: (progress: number, message: string) => void
}

/**
 * Waits for the answer of a run. A run that fails is a result with `isError`, as a model that calls the tool should
 * read it. Throws `cancelled` if the client leaves, `unavailable` if the service shuts down: then the client resumes.
 */
export async function answerOf(
  { run, feed }: { run: RunRecord; feed: RunFeed },
  { reply, openStreams, onProgress }: AskOptions,
): Promise<CallToolResult> {
  let notifiedAt = -Infinity
  let notifiedLength = 0
  const notifyProgress = ({ messages, terminal }: RunView) => {
    const length = lengthOf(messages)
    const isWaiting = terminal?.type === 'interrupted'
    if (length <= notifiedLength || performance.now() - notifiedAt < progressEveryMs) return
    notifiedAt = performance.now()
    notifiedLength = length
    onProgress(length, isWaiting ? 'A call waits for the approval of its owner.' : happening(messages))
  }
  try {
    return resultOf(run, await waitForEnd(feed, reply, openStreams, { onChange: notifyProgress }))
  } catch (error) {
    const isRunsOwn = error instanceof AppError && feed.view.terminal?.type === 'error'
    if (!isRunsOwn) throw error
    return { content: [{ type: 'text', text: error.message }], isError: true }
  }
}

type Messages = RunView['messages']

/** Grows with each piece of an answer and with each result of a tool. */
function lengthOf(messages: Messages): number {
  let length = 0
  for (const { content } of messages.values())
    length += 'pieces' in content ? content.pieces.text.length : content.whole.data.content.length
  return length
}

function happening(messages: Messages): string {
  const last = [...messages.values()].at(-1)?.content
  if (last === undefined || 'pieces' in last) return 'The assistant writes its answer.'
  return last.whole.type === 'AIMessage'
    ? 'The assistant calls its tools.'
    : 'The assistant reads what its tools found.'
}

function resultOf(run: RunRecord, view: RunView): CallToolResult {
  const { text = '', refusal = '' } =
    createAnswerProgress({ clientTools: noFunctions, showsReasoning: false })(view) ?? {}
  const logged = wholeMessagesOf(view).map((message) => ({ message, runId: run._id }))
  const files = citedFilesOf(new Set([run._id]), logged).get(run._id) ?? []
  const names = new Map(files.map(({ id, name }) => [id, name]))
  const citations = citationsIn(text, files).map((citation) => ({
    text: citation.text,
    file_id: citation.fileId,
    file_name: names.get(citation.fileId) ?? '',
    ...(citation.page === undefined ? {} : { page: citation.page }),
  }))
  const answer = text === '' ? refusal : text
  return {
    content: [{ type: 'text', text: answer }],
    structuredContent: { answer, thread_id: run.thread_id, run_id: run._id, citations },
  }
}
