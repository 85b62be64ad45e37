import { resultsOfCalls } from '../../../domain/conversation.ts'
import type { Message } from '../../../domain/messages.ts'
import { type InputEntry, isSummary } from './find-items.ts'
import { type NewResponse, noTools } from './new-response.ts'

const prompt = [
  'Summarise the conversation so far for the model that continues it without having read it.',
  'Keep what was asked for, decided and found out, names, numbers, paths and ids exactly as they are, what the tools have answered, and what is still open.',
  'Answer with the summary alone, in the language of the conversation.',
].join(' ')

/** The request for a summary of what another request brings. Like any other it is a run, of which nothing is kept. */
export function summaryRequest(
  { model, acting, previousId, retained, overrides }: NewResponse,
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
    tools: noTools(),
    metadataJson: undefined,
    shown: { tools: [] },
    ...(retained === undefined ? {} : { retained }),
  }
}

/** What people have said, of the input of a run that summarises: the new summary stands for earlier ones. */
export function saidIn(input: Message[]): Message[] {
  return input.slice(0, -1).filter((message) => message.type === 'HumanMessage' && !isSummary(message))
}

/** The input that is answered with the summary of a response before it: a result stays beside its call. */
export function inputAfterSummary(earlier: Message[], input: InputEntry[]): InputEntry[] {
  const open = input.some(isOfCall) ? openCalls(earlier) : undefined
  return open === undefined ? input : [{ message: open }, ...input]
}

/** The newest answer, with those of its calls that have no result. */
function openCalls(messages: Message[]): Message | undefined {
  const answer = messages.findLast((message) => message.type === 'AIMessage')
  const results = answer && resultsOfCalls(messages).get(answer.data.id)
  const open = answer?.data.tool_calls?.filter((_call, index) => results?.[index] === undefined) ?? []
  return answer === undefined || open.length === 0
    ? undefined
    : { type: 'AIMessage', data: { ...answer.data, id: '', tool_calls: open } }
}

function isOfCall(entry: InputEntry): boolean {
  if ('decides' in entry) return true
  return 'parts' in entry ? entry.callId !== undefined : 'message' in entry && entry.message.type === 'ToolMessage'
}

/**
 * Where the input of a client that sends the whole conversation can be cut: what comes before is summarised. The newest
 * question stays; behind an only question, the newest calls with their results.
 */
export function splitForSummary(entries: InputEntry[]): { before: InputEntry[]; rest: InputEntry[] } {
  const question = entries.findLastIndex(isQuestion)
  const index = question > 0 ? question : entries.findLastIndex(isCall)
  return index <= 0 ? { before: [], rest: entries } : { before: entries.slice(0, index), rest: entries.slice(index) }
}

function isQuestion(entry: InputEntry): boolean {
  return (
    ('parts' in entry && entry.callId === undefined) || ('message' in entry && entry.message.type === 'HumanMessage')
  )
}

function isCall(entry: InputEntry): boolean {
  return 'message' in entry && entry.message.type === 'AIMessage' && (entry.message.data.tool_calls ?? []).length > 0
}
