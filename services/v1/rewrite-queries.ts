import { parseForeignJson } from '../../domain/foreign-json.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { RunView } from '../../domain/run-events.ts'
import { type Caller, personOf } from '../owner.ts'
import type { RunFeed, Runs } from '../runs/index.ts'
import type { createV1Chat } from './chat.ts'

interface RewriteQueriesDeps {
  gateway: (caller: Caller) => Promise<AssistantRecord>
  chat: Pick<ReturnType<typeof createV1Chat>, 'draft' | 'start' | 'forget'>
  runs: Pick<Runs, 'cancel'>
}

/** Characters of one query; the same as a request may have. */
const maxQueryLength = 2000
const maxAnswerBytes = 64 * 1024
const tokensOfQuery = 200
const rewriteMs = 10_000

const instructions = [
  'You are given search queries as a JSON array of texts.',
  'Rewrite each one for a search by meaning: say what is looked for, without greetings, and spell names out.',
  'Keep the language, and add nothing that is not asked for.',
  'Answer with a JSON array of as many texts, in the same order, and nothing else.',
].join(' ')

/**
 * Has the default model rewrite the queries of a search. That is a run of the project's gateway, so that budgets, limits
 * and usage count it; nothing of it is kept. If it is refused, fails, takes too long or answers something else, the
 * queries are searched as they are.
 */
export function createRewriteQueries({ gateway, chat, runs }: RewriteQueriesDeps) {
  return async (caller: Caller, queries: string[], signal: AbortSignal): Promise<string[]> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(rewriteMs)])
    try {
      const assistant = await gateway(caller)
      const answering = { assistant, model: undefined }
      const { run, feed } = await chat.start(
        {
          thread: chat.draft(caller, answering, { isStored: false }),
          withThread: true,
          assistant,
          acting: { person: personOf(caller), origin: 'chat' },
          input: [{ type: 'HumanMessage', data: { id: newId(), content: JSON.stringify(queries) } }],
          overrides: { instructions, temperature: 0, max_tokens: tokensOfQuery * queries.length },
          strategy: 'enqueue',
        },
        newId(),
      )
      const answer = await answerOf(feed, limit).finally(() => end(run, feed))
      return rewrittenIn(answer, queries.length) ?? queries
    } catch {
      signal.throwIfAborted()
      return queries
    }
  }

  /** Whatever goes wrong here is done by the retention. */
  async function end(run: RunRecord, feed: RunFeed): Promise<void> {
    const isOver = feed.view.terminal !== undefined
    feed.close()
    if (!isOver) await runs.cancel(run).catch(() => undefined)
    await chat.forget(run, { isOver }).catch(() => undefined)
  }
}

function answerOf(feed: RunFeed, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const inspect = () => {
    if (feed.view.terminal?.type === 'end') resolve(textIn(feed.view))
    else if (feed.view.terminal !== undefined) reject(new Error('the run did not end with an answer'))
  }
  const give = () => reject(signal.reason)
  const unlisten = feed.onChange(inspect)
  signal.addEventListener('abort', give, { once: true })
  if (signal.aborted) give()
  inspect()
  return promise.finally(() => {
    unlisten()
    signal.removeEventListener('abort', give)
  })
}

function textIn({ messages }: RunView): string {
  const last = [...messages.values()].at(-1)?.content
  return last !== undefined && 'whole' in last && last.whole.type === 'AIMessage' ? last.whole.data.content : ''
}

/** Models like to wrap JSON in words or marks of code. Undefined: there are not as many queries as were asked for. */
function rewrittenIn(answer: string, count: number): string[] | undefined {
  const found = answer.slice(answer.indexOf('['), answer.lastIndexOf(']') + 1)
  const value = found === '' ? undefined : parseForeignJson(found, { bytes: maxAnswerBytes })
  if (!Array.isArray(value) || value.length !== count) return undefined
  const queries = value.map((query: unknown) => (typeof query === 'string' ? query.trim() : ''))
  return queries.every((query) => query !== '' && query.length <= maxQueryLength && query.isWellFormed())
    ? queries
    : undefined
}
