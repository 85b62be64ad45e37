import type { AnswerDelta, ChatModel, ChatRequest } from '../../services/runs/chat-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { brokenOff, notTaken } from './chat-failures.ts'
import { type Dialects, type Trait, createDialects } from './dialects.ts'
import { failureOf } from './failures.ts'
import { type AnswerLimits, guardFetch } from './guarded-fetch.ts'
import { openClient } from './open-client.ts'
import { metadataOf, originOf } from './provider-metadata.ts'
import { lessonIn, refusalIn } from './refusals.ts'
import { bodyFor, isAsked } from './request-body.ts'
import { toolName } from './wire-messages.ts'

export interface ChatModelOptions extends AnswerLimits {
  /** Reaches the servers that the settings name. */
  ownFetch: typeof fetch
  /** Reaches addresses that users set; refuses private ones. */
  guardedFetch: typeof fetch
  /** What was learnt of servers. */
  dialects?: Dialects
}

/** In how many forms one question is asked: a server names what it does not take one after the other. */
const maxForms = 8

/**
 * Models of the chat-completions interface, through the `openai` client, which is loaded with the first request.
 * Its own retries are off: the workflow retries, and remembers. Neither `fetch` follows redirects. A server that refuses
 * the form of a request is asked again in the form that it wants, and it is remembered.
 */
export function createChatModel({
  ownFetch,
  guardedFetch,
  silenceMs,
  dialects = createDialects(),
}: ChatModelOptions): ChatModel {
  return {
    async *stream({ account, signal, ...request }) {
      const { apiKey, baseUrl } = account
      const served = { baseUrl, model: request.model, ownKey: account.setByUser ? apiKey : undefined }
      const origin = originOf(served)
      let traits = dialects.of(served)
      const lasting = new Set<Trait>()
      for (let form = 1; ; form++) {
        const guard = guardFetch(account.setByUser ? guardedFetch : ownFetch, { silenceMs })
        const body = bodyFor(request, traits, origin)
        let isAnswering = false
        try {
          const client = await openClient({ apiKey, baseUrl, fetch: guard.fetch, silenceMs })
          const chunks = await client.chat.completions.create(body, { signal })
          for await (const delta of read(chunks, { request, traits, origin, guard, apiKey })) {
            if (!isAnswering && lasting.size > 0) dialects.remember(served, lasting)
            isAnswering = true
            if (delta.type === 'restart' && delta.reasoning !== '') dialects.remember(served, ['open_thinking'])
            else if (delta.type === 'restart' && traits.has('open_thinking')) dialects.forget(served, 'open_thinking')
            yield delta
          }
          return
        } catch (error) {
          signal.throwIfAborted()
          const refusal = isAnswering || guard.failure !== undefined ? undefined : refusalIn(error)
          const lesson =
            refusal && lessonIn(refusal, { body, known: traits, isAsked: (name) => isAsked(name, request, body) })
          const failure = failureOf(guard.failure ?? error, apiKey)
          if (lesson !== undefined && 'unknown' in lesson) throw notTaken(lesson.unknown, failure)
          if (lesson === undefined || form >= maxForms) throw failure
          traits = new Set([...traits, ...lesson.traits])
          if (lesson.isLasting) for (const trait of lesson.traits) lasting.add(trait)
        } finally {
          guard.close()
        }
      }
    },
  }

  async function* read(
    chunks: AsyncIterable<unknown>,
    {
      request,
      traits,
      origin,
      guard,
      apiKey,
    }: {
      request: Omit<ChatRequest, 'account' | 'signal'>
      traits: ReadonlySet<Trait>
      origin: string
      guard: ReturnType<typeof guardFetch>
      apiKey: string
    },
  ): AsyncGenerator<AnswerDelta> {
    const names = ownNames(request, traits)
    const answer = createAnswerReader({
      apiKey,
      toolNames: new Set(names.keys()),
      thinkingIsOpen: traits.has('open_thinking'),
      addSources: request.responseFormat === undefined,
    })
    for await (const chunk of chunks)
      for (const delta of answer.read(chunk))
        yield delta.type === 'call' && delta.name !== undefined
          ? { ...delta, name: names.get(delta.name) ?? delta.name }
          : delta
    yield* answer.end({ sawEnd: guard.sawEnd })
    if (!answer.finished && !guard.sawEnd) throw brokenOff()
    const metadata = metadataOf(origin, answer.members)
    if (metadata !== undefined) yield { type: 'provider', metadata }
  }
}

/** The names of tools by those under which the server was offered them. */
function ownNames({ tools }: Pick<ChatRequest, 'tools'>, traits: ReadonlySet<Trait>): Map<string, string> {
  return new Map(tools.map(({ name }) => [toolName(name, traits), name]))
}
