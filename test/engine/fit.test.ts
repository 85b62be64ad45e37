import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/messages.ts'
import { contextWindowOf } from '../../infra/model/context-window.ts'
import { fitConversation } from '../../services/engine/fit.ts'

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

describe('fitting a conversation to a window', () => {
  it('leaves alone what fits', () => {
    const messages = [human('one'), human('two')]
    expect(fitConversation(messages, 100)).toBe(messages)
  })

  it('keeps system messages and the newest turns', () => {
    const long = 'word '.repeat(50)
    const messages = [system('rules'), human(long), human(long), human('latest')]
    expect(fitConversation(messages, 80)).toEqual([messages[0], messages[2], messages[3]])
  })

  it('keeps or drops a tool call together with all its results', () => {
    const long = 'word '.repeat(50)
    const messages = [human(long), asks('a', 'b'), result('a', long), result('b', 'short'), human('latest')]
    expect(fitConversation(messages, 70)).toEqual([messages[4]])
    expect(fitConversation(messages, 150)).toEqual(messages.slice(1))
  })

  it('never drops the newest message', () => {
    const messages = [human('old'), human('word '.repeat(500))]
    expect(fitConversation(messages, 10)).toEqual([messages[1]])
  })

  it('knows the windows of well-known models', () => {
    expect(contextWindowOf('gpt-4o-mini', 1)).toBe(128_000)
    expect(contextWindowOf('some-local-model', 8192)).toBe(8192)
  })
})
