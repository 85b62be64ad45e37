import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Acting } from '../../../domain/acting.ts'
import { ownerRunError, publicRunError } from '../../../domain/public-run-error.ts'
import { newId } from '../../../domain/ids.ts'
import type { RunMessageInput } from '../../../domain/messages.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { CompletionFacts, RunOverrides, RunRecord } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { type Received, copyForThread } from '../../../services/attachments/receive-content.ts'
import type { FollowedRun, NewRun, RunFeed } from '../../../services/runs/index.ts'
import { answerIsFollowed, orNull } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import type { OpenStreams } from '../../sse/open-streams.ts'
import { followOnce } from '../runs/follow-once.ts'
import type { ChatCompletion, ChatMembers } from './chat-schemas.ts'
import { messagesOfChat } from './client-messages.ts'
import { toolOverridesOf, usesOldNames } from './client-tools.ts'
import { type ChatChunk, chatCompletion } from './completion.ts'
import { overridesOf } from './model-parameters.ts'
import { endOf, waitForEnd } from './run-end.ts'
import { streamCompletion } from './stream-completion.ts'
import { refuseUnmetChat } from './unmet-demands.ts'

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

export interface AskedChat {
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
  shownChunk?: (chunk: ChatChunk) => object | undefined
}

/** What a request for chat completions asks, in both families. Throws `invalid_input` for what is not supported. */
export function askedOfChat(body: ChatMembers & { model: string }) {
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
  asked: AskedChat,
): Promise<ChatCompletion | FastifyReply> {
  const { isStored, isStreamed } = asked
  const choices = await startChoices(request, host, asked)
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
  const { model, clientTools, isOld, showsReasoning, metadata } = asked
  const options = { run, model, clientTools, isOld, showsReasoning, metadata }
  const shownError = asked.isOwner ? ownerRunError : publicRunError
  if (!isStreamed) {
    const ends = Promise.all(choices.map(({ feed }) => waitForEnd(feed, reply, openStreams, { shownError }))).finally(
      forget,
    )
    return chatCompletion(options, await ends)
  }
  const { finished, stop } = streamCompletion(reply, choices, {
    ...options,
    shownError,
    includeUsage: asked.includeUsage,
    ...(asked.shownChunk === undefined ? {} : { shownChunk: asked.shownChunk }),
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
  { model, messages, messagesOf, overrides, acting, choices, isStored, completion, metadata }: AskedChat,
): Promise<[FollowedRun, ...FollowedRun[]]> {
  let received: Promise<Received> | undefined
  const inputFor = async (choice: number) =>
    messagesOf === undefined
      ? copyForThread(await (received ??= host.input(messages, ['body', 'messages'])))
      : host.input(messagesOf(choice), ['body', 'prompt'])
  const asked = {
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
      takeBack = others.length > 0 ? await host.reserve?.({ ...asked, ...own }, all) : undefined
      return host.start(
        {
          ...asked,
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
          ? await host.start({ ...asked, ...(await inputFor(index + 1)), thread }, id)
          : { run: known, feed: await host.follow(known) },
      )
    }
  } catch (error) {
    for (const { feed } of opened) feed.close()
    throw error
  }
  return opened
}
