import type { ChatRequest, ScriptedReply } from '../../support/scripted-model.ts'

const usage = { prompt_tokens: 21, completion_tokens: 4 }
/** What every structured answer is asked for. */
const structured = { city: 'Paris', degrees: 21 }

/**
 * Answers by what a request holds, so that it does not matter how many requests a framework makes: it calls the tool
 * that it is given, says what a tool answered, and answers as JSON when that is asked for.
 */
export function answer({ body }: ChatRequest): ScriptedReply {
  const last = body.messages.at(-1)
  const names = (body.tools ?? []).map(({ function: { name } }) => name)
  const ofStructure = names.find((name) => name !== 'get_weather')
  if (last?.role === 'tool' && ofStructure === undefined) {
    if (body['response_format'] === undefined || isText(body['response_format']))
      return { text: ['It is ', textOf(last.content), ' in Paris.'], usage }
  }
  if (
    body['response_format'] !== undefined &&
    !isText(body['response_format']) &&
    last?.role !== 'tool' &&
    names.length > 0
  )
    return { toolCalls: [{ name: 'get_weather', arguments: ['{"city":', ' "Paris"}'] }], usage }
  if (body['response_format'] !== undefined && !isText(body['response_format']))
    return { text: JSON.stringify(structured), usage }
  if (names.includes('get_weather') && last?.role !== 'tool')
    return { toolCalls: [{ name: 'get_weather', arguments: ['{"city":', ' "Paris"}'] }], usage }
  if (ofStructure !== undefined) return { toolCalls: [{ name: ofStructure, arguments: structured }], usage }
  return { text: ['You said: ', textOf(last?.content)], usage }
}

const isText = (format: unknown) =>
  typeof format === 'object' && format !== null && 'type' in format && format.type === 'text'

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return content.map((part: { text?: string }) => part.text ?? '').join('')
}
