import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/messages.ts'
import { contextWindowOf } from '../../infra/model/context-window.ts'
import { countTokens } from '../../domain/chunking/count-tokens.ts'
import { fitConversation, newestMessages } from '../../services/runs/chat-request.ts'

let counter = 0
const human = (content: string): Message => ({ type: 'HumanMessage', data: { id: `h${counter++}`, content } })
const system = (content: string): Message => ({ type: 'SystemMessage', data: { id: `s${counter++}`, content } })
const asks = (...ids: string[]): Message => ({
  type: 'AIMessage',
  data: {
    id: `a${counter++}`,
    content: '',
    tool_calls: ids.map((id) => ({ id, name: 'look', args: {}, type: 'tool_call' })),
  },
})
const result = (callId: string, content: string): Message => ({
  type: 'ToolMessage',
  data: { id: `t${counter++}`, content, tool_call_id: callId, name: 'look' },
})

const counted: string[] = []
/** Counts as the thread does: in order, until the limit is passed. */
const count = async (texts: string[], limit: number) => {
  const counts: number[] = []
  for (let left = limit; left >= 0 && counts.length < texts.length;) {
    const text = texts[counts.length] ?? ''
    counted.push(text)
    counts.push(countTokens(text))
    left -= counts.at(-1) ?? 0
  }
  return counts
}
const fit = (messages: Message[], budgetTokens: number, fixed: string[] = []) => {
  counted.length = 0
  return fitConversation(messages, { budgetTokens, fixed, count })
}

describe('fitting a conversation to a window', () => {
  it('does not change a conversation that fits', async () => {
    const messages = [human('one'), human('two')]
    expect(await fit(messages, 100)).toBe(messages)
  })

  it('keeps system messages and the newest turns', async () => {
    const long = 'word '.repeat(50)
    const messages = [system('rules'), human(long), human(long), human('latest')]
    expect(await fit(messages, 80)).toEqual([messages[0], messages[2], messages[3]])
  })

  it('keeps or drops a tool call together with all its results', async () => {
    const long = 'word '.repeat(50)
    const messages = [human(long), asks('a', 'b'), result('a', long), result('b', 'short'), human('latest')]
    expect(await fit(messages, 70)).toEqual([messages[4]])
    expect(await fit(messages, 150)).toEqual(messages.slice(1))
  })

  it('never drops the newest message', async () => {
    const messages = [human('old'), human('word '.repeat(500))]
    expect(await fit(messages, 10)).toEqual([messages[1]])
  })

  it('counts no tokens if the bytes are enough to decide, and none beyond the budget', async () => {
    await fit([human('one'), human('two')], 100, ['instructions'])
    expect(counted).toEqual([])
    const long = 'word '.repeat(20_000)
    const messages = Array.from({ length: 10 }, () => human(long))
    expect(await fit(messages, 50_000)).toEqual(messages.slice(-2))
    expect(counted).toHaveLength(3)
  })

  it('leaves room for instructions and tools', async () => {
    const long = 'word '.repeat(50)
    const messages = [human(long), human('latest')]
    expect(await fit(messages, 80, [])).toEqual(messages)
    expect(await fit(messages, 80, [long])).toEqual([messages[1]])
    expect(await fit(messages, 80, [long.repeat(9)])).toEqual([messages[1]])
  })

  it('knows the context windows of well-known models', () => {
    expect(contextWindowOf('gpt-4o-mini', 1)).toBe(128_000)
    expect(contextWindowOf('some-local-model', 8192)).toBe(8192)
  })
})

describe('the newest messages', () => {
  const said = (content: string): Message => ({ type: 'AIMessage', data: { id: `a${counter++}`, content } })

  it('are counted without calls and results', () => {
    const calls = [asks('a'), result('a', 'found')]
    const messages = [system('rules'), human('one'), ...calls, said('answer'), human('two')]
    expect(newestMessages(messages, undefined)).toBe(messages)
    expect(newestMessages(messages, 1)).toEqual([messages[0], messages[5]])
    expect(newestMessages(messages, 2)).toEqual([messages[0], messages[4], messages[5]])
    expect(newestMessages(messages, 3)).toEqual(messages)
  })

  it('do not begin with results whose call is left out', () => {
    const messages = [human('one'), asks('a'), result('a', 'found')]
    expect(newestMessages(messages, 1)).toEqual(messages)
  })
})
