import type { Message } from '../../../domain/messages.ts'
import type { InputEntry } from './find-items.ts'
import type { NewResponse, RequestedTools } from './new-response.ts'

const prompt = [
  'Summarise the conversation so far for the model that continues it without having read it.',
  'Keep what was asked for, decided and found out, names, numbers, paths and ids exactly as they are, what the tools have answered, and what is still open.',
  'Answer with the summary alone, in the language of the conversation.',
].join(' ')

const noTools: RequestedTools = {
  functions: [],
  functionsText: undefined,
  shapes: [],
  fileSearch: undefined,
  webSearch: undefined,
  code: undefined,
  servers: [],
  shown: [],
}

/** The request for a summary of what another request brings. Like any other it is a run, of which nothing is kept. */
export function summaryRequest(
  { model, acting, previousId, held, overrides }: NewResponse,
  { entries, instructions }: { entries: InputEntry[]; instructions?: string | undefined },
): NewResponse {
  const { service_tier: tier, user, safety_identifier: identifier, prompt_cache_key: cacheKey } = overrides
  return {
    model,
    acting,
    input: [...entries, { message: { type: 'HumanMessage', data: { id: '', content: prompt } } }],
    instructions,
    previousId,
    conversation: undefined,
    isBackground: false,
    isStored: false,
    overrides: {
      ...(tier === undefined ? {} : { service_tier: tier }),
      ...(user === undefined ? {} : { user }),
      ...(identifier === undefined ? {} : { safety_identifier: identifier }),
      ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
      client_calls: 'return',
      server_tools: [],
      tool_choice_json: JSON.stringify('none'),
    },
    tools: noTools,
    metadataJson: undefined,
    shown: { tools: [] },
    ...(held === undefined ? {} : { held }),
  }
}

/** Without the message that asks for the summary. */
export function summarisedOf(input: Message[]): Message[] {
  return input.slice(0, -1)
}

/**
 * Where the input of a client that sends the whole conversation can be cut: what comes before is summarised. The newest
 * question stays; behind an only question, the newest calls with their results.
 */
export function splitForSummary(entries: InputEntry[]): { before: InputEntry[]; rest: InputEntry[] } {
  const question = entries.findLastIndex(isQuestion)
  const place = question > 0 ? question : entries.findLastIndex(isCall)
  return place <= 0 ? { before: [], rest: entries } : { before: entries.slice(0, place), rest: entries.slice(place) }
}

function isQuestion(entry: InputEntry): boolean {
  return 'parts' in entry || ('message' in entry && entry.message.type === 'HumanMessage')
}

function isCall(entry: InputEntry): boolean {
  return 'message' in entry && entry.message.type === 'AIMessage' && (entry.message.data.tool_calls ?? []).length > 0
}
