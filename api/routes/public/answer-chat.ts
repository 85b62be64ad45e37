import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Acting } from '../../../domain/acting.ts'
import { newId } from '../../../domain/ids.ts'
import type { RunMessageInput } from '../../../domain/messages.ts'
import { ownerRunError, publicRunError } from '../../../domain/public-run-error.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { CompletionFacts, RunOverrides, RunRecord } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { RunView } from '../../../domain/run-events.ts'
import { type Received, copyForThread } from '../../../services/attachments/receive-content.ts'
import type { FollowedRun, NewRun, RunFeed } from '../../../services/runs/index.ts'
import { type CompatErrorObject, compatRunError } from '../../plugins/compat-errors.ts'
import { answerIsFollowed, followOnce, orNull } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { type EventStream, type OpenStreams, openEventStream } from '../../sse/event-stream.ts'
import { followRun } from '../../sse/follow-run.ts'
import type { ChatCompletion, ChatMembers } from './chat-schemas.ts'
import { messagesOfChat, toolOverridesOf, usesOldNames } from './client-messages.ts'
import {
  type ChatChunk,
  type CompletionOptions,
  chatCompletion,
  completionChunks,
  createAnswerProgress,
  isEmpty,
  usageOf,
} from './completion.ts'
import { overridesOf, refuseUnmetChat } from './model-parameters.ts'
import { brokenStream, endOf, waitForEnd } from './run-end.ts'

/** On whose behalf a request for chat completions is answered. */
export interface ChatHost {
  assistant: AssistantRecord
  /** A thread that is stored together with the run of one choice. */
  draft: () => ThreadRecord
  input: (messages: RunMessageInput[], loc: string[]) => Promise<Received>
  start: (newRun: NewRun, runId: string) => Promise<FollowedRun>
  /** Has all runs of a request with several choices admitted before the first starts. */
  reserve?: (
    newRun: Pick<NewRun, 'assistant' | 'overrides' | 'input'>,
    runIds: string[],
  ) => Promise<() => Promise<void>>
  find: (runId: string) => Promise<RunRecord>
  follow: (run: RunRecord) => Promise<RunFeed>
  /** Begins to delete the run with its thread. */
  forget: (run: RunRecord, end: { isOver: boolean }) => Promise<void>
}

export interface RequestedChat {
  /** As the answer names it. */
  model: string
  messages: RunMessageInput[]
  /** The messages of each choice, if they are not the same. */
  messagesOf?: (choice: number) => RunMessageInput[]
  overrides: RunOverrides
  acting: Acting
  choices: number
  /** False: nothing is kept after the answer. */
  isStored: boolean
  /** What is kept beside the run of the first choice. */
  completion?: Omit<CompletionFacts, 'others'>
  metadata?: Record<string, unknown> | undefined
  /** Functions of the client: only their calls are shown. */
  clientTools: ReadonlySet<string>
  /** Calls are shown by their old name, `function_call`. */
  isOld: boolean
  /** Whether the caller may read what the model thinks. */
  showsReasoning: boolean
  /** The caller owns the run, and is told in the provider's words what it refuses. */
  isOwner?: boolean
  isStreamed: boolean
  includeUsage: boolean
  /** Another form of the chunks of a stream; undefined: nothing to send. */
  toChunk?: (chunk: ChatChunk) => object | undefined
}

/** What a request for chat completions asks, in both families. Throws `invalid_input` for what is not supported. */
export function requestOfChat(body: ChatMembers & { model: string }) {
  refuseUnmetChat(body)
  return {
    model: body.model,
    messages: messagesOfChat(body.messages),
    overrides: { ...overridesOf(body), ...toolOverridesOf(body) },
    choices: body.n ?? 1,
    isOld: usesOldNames(body),
    isStreamed: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
  }
}

/** Answers a request for chat completions: each choice is a run on a new thread. */
export async function answerChat(
  { request, reply, openStreams }: { request: FastifyRequest; reply: FastifyReply; openStreams: OpenStreams },
  host: ChatHost,
  requested: RequestedChat,
): Promise<ChatCompletion | FastifyReply> {
  const { isStored, isStreamed } = requested
  const choices = await startChoices(request, host, requested)
  const run = choices[0].run
  logRun(reply, run)
  const canRejoin = typeof request.headers['idempotency-key'] === 'string'
  const forget = async () => {
    if (isStored) return
    for (const choice of choices) {
      // A caller who left may repeat the request with the same key. Otherwise the retention deletes the thread, and
      // also when this deletion cannot begin.
      const isOver = endOf(choice.feed.view) !== undefined
      if (canRejoin && !isOver) continue
      await host
        .forget(choice.run, { isOver })
        .catch((error: unknown) => request.log.warn({ err: error }, 'a thread that is not to be stored stays for now'))
    }
  }
  // The stored answer of a key would outlive the thread.
  if (isStreamed || !isStored) await answerIsFollowed(request)
  const { model, clientTools, isOld, showsReasoning, metadata } = requested
  const options = { run, model, clientTools, isOld, showsReasoning, metadata }
  const toError = requested.isOwner ? ownerRunError : publicRunError
  if (!isStreamed) {
    const ends = Promise.all(choices.map(({ feed }) => waitForEnd(feed, reply, openStreams, { toError }))).finally(
      forget,
    )
    return chatCompletion(options, await ends)
  }
  const { finished, stop } = streamCompletion(reply, choices, {
    ...options,
    toError,
    includeUsage: requested.includeUsage,
    ...(requested.toChunk === undefined ? {} : { toChunk: requested.toChunk }),
  })
  openStreams.track(finished.finally(forget), stop)
  return reply
}

/**
 * The runs of all choices, followed from their starts. That of the first names the others, so that a repeated request
 * with its key finds those that were started, and starts the rest.
 */
async function startChoices(
  request: FastifyRequest,
  host: ChatHost,
  { model, messages, messagesOf, overrides, acting, choices, isStored, completion, metadata }: RequestedChat,
): Promise<[FollowedRun, ...FollowedRun[]]> {
  let received: Promise<Received> | undefined
  const inputFor = async (choice: number) =>
    messagesOf === undefined
      ? copyForThread(await (received ??= host.input(messages, ['body', 'messages'])))
      : host.input(messagesOf(choice), ['body', 'prompt'])
  const requested = {
    withThread: true,
    assistant: host.assistant,
    inputLoc: ['body', 'messages'],
    overrides,
    acting,
    strategy: 'enqueue' as const,
  }
  let takeBack: (() => Promise<void>) | undefined
  const first = await followOnce(request, {
    find: host.find,
    follow: host.follow,
    start: async (id) => {
      const others = Array.from({ length: choices - 1 }, () => ({ run_id: newId(), thread_id: newId() }))
      const facts = { model, ...completion, ...(others.length > 0 ? { others } : {}) }
      const own = await inputFor(0)
      const all = [id, ...others.map(({ run_id: other }) => other)]
      takeBack = others.length > 0 ? await host.reserve?.({ ...requested, ...own }, all) : undefined
      return host.start(
        {
          ...requested,
          ...own,
          thread: host.draft(),
          ...(others.length > 0 || completion !== undefined ? { completion: facts } : {}),
          ...(metadata === undefined ? {} : { metadataJson: JSON.stringify(metadata) }),
        },
        id,
      )
    },
    keyEndsWithThread: isStored,
  }).catch(async (error: unknown) => {
    await takeBack?.()
    throw error
  })
  const opened: [FollowedRun, ...FollowedRun[]] = [first]
  try {
    for (const [index, { run_id: id, thread_id: threadId }] of (first.run.completion?.others ?? []).entries()) {
      const known = await orNull(host.find(id))
      const thread = { ...host.draft(), _id: threadId }
      opened.push(
        known === null
          ? await host.start({ ...requested, ...(await inputFor(index + 1)), thread }, id)
          : { run: known, feed: await host.follow(known) },
      )
    }
  } catch (error) {
    for (const { feed } of opened) feed.close()
    throw error
  }
  return opened
}

/**
 * Sends runs, one for each choice, as `chat.completion.chunk`s and `[DONE]`. A failure is a line with a top-level
 * `error` and nothing after it. No text is sent twice, even if the worker dies.
 */
function streamCompletion(
  reply: FastifyReply,
  choices: FollowedRun[],
  {
    includeUsage,
    toError,
    toChunk = (chunk) => chunk,
    ...options
  }: CompletionOptions & {
    includeUsage: boolean
    toError: typeof publicRunError
    toChunk?: (chunk: ChatChunk) => object | undefined
  },
) {
  const stream = openEventStream(reply)
  const chunks = completionChunks(options, includeUsage)
  const views: RunView[] = []
  let isBroken = false
  const send = (chunk: ChatChunk) => {
    const shown = toChunk(chunk)
    if (shown !== undefined) stream.send({ data: JSON.stringify(shown) })
  }
  const sendError = (error: CompatErrorObject) => {
    if (!isBroken) stream.send({ data: JSON.stringify({ error }) })
    isBroken = true
  }
  const shares = shareStream(stream, choices.length, () => {
    if (isBroken || views.length < choices.length) return
    const usage = includeUsage ? usageOf(views) : undefined
    if (usage) send(chunks.usage(usage))
    stream.send({ data: '[DONE]' })
  })
  for (const index of choices.keys()) send(chunks.begin(index))

  const followers = choices.map(({ feed }, index) => {
    const next = createAnswerProgress(options)
    let anyText = false
    return followRun(shares[index] ?? stream, feed, {
      send(view) {
        if (isBroken) return 'over'
        const end = endOf(view, toError)
        const added = next(view)
        const isNew = added !== undefined && !isEmpty(added)
        if (end?.type === 'error') {
          if (isNew) send(chunks.more(index, added))
          sendError(compatRunError(end.error))
          return 'over'
        }
        if (added === undefined) {
          sendError(brokenStream.contradicted)
          return 'over'
        }
        if (isNew) {
          send(chunks.more(index, added))
          anyText = true
        }
        if (end === undefined) return anyText ? 'sent' : 'waiting'
        send(chunks.end(index, view))
        views.push(view)
        return 'over'
      },
      giveUp: (reason) => sendError(brokenStream[reason]),
      onError: (error) => reply.log.error({ err: error }, 'a stream of the compat family failed'),
    })
  })
  return {
    finished: Promise.all(followers.map(({ finished }) => finished)).then(() => undefined),
    stop() {
      for (const follower of followers) follower.stop()
    },
  }
}

/**
 * One stream for several followers, each of which ends its own share: with the last, `onLast` is called and the stream
 * ends. A client that leaves, or can take more, is reported to all.
 */
function shareStream(stream: EventStream, count: number, onLast: () => void) {
  const listeners: (() => void)[] = []
  let open = count
  stream.onProgress(() => {
    for (const listener of listeners) listener()
  })
  const end = () => {
    open -= 1
    if (open > 0) return
    if (!stream.isClosed) onLast()
    stream.end()
  }
  return Array.from({ length: count }, () => ({
    comment: stream.comment,
    end,
    onProgress: (listener: () => void) => void listeners.push(listener),
    get isWritable() {
      return stream.isWritable
    },
    get isClosed() {
      return stream.isClosed
    },
    get sentBytes() {
      return stream.sentBytes
    },
  }))
}
