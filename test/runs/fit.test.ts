import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTokens } from '../../domain/chunking/count-tokens.ts'
import type { Message } from '../../domain/messages.ts'
import { contextWindowOf } from '../../infra/model/known-models.ts'
import { promptOf } from '../../services/runs/chat-request.ts'
import { fitConversation, newestMessages } from '../../services/runs/fit-conversation.ts'

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
const fitting = (messages: Message[], budgetTokens: number, fixed: string[] = []) => {
  counted.length = 0
  return fitConversation(messages, { budgetTokens, fixed, count })
}
const fit = async (...args: Parameters<typeof fitting>) => (await fitting(...args)).messages

/** As the messages are counted: texts, calls, and four for each message. */
function tokensIn(messages: Message[]): number {
  const calls = (message: Message) => (message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : [])
  return messages.reduce(
    (sum, message) =>
      sum + 4 + countTokens(message.data.content + (calls(message).length > 0 ? JSON.stringify(calls(message)) : '')),
    0,
  )
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

  it('keeps the question, whatever the tools say', async () => {
    const long = 'found a word '.repeat(2000)
    const messages = [
      human('before'),
      human('What is said of water?'),
      asks('a'),
      result('a', `first ${long}`),
      asks('b'),
      result('b', `second ${long}`),
    ]
    const { messages: kept, fits } = await fitting(messages, 6000)
    expect(fits).toBe(true)
    const ids = kept.map(({ data: { id } }) => id)
    expect(ids).toEqual(messages.map(({ data: { id } }) => id))
    const [first, second] = kept.flatMap((message) => (message.type === 'ToolMessage' ? message.data.content : []))
    expect(first).toMatch(/^first found .*\n\[Cut here: .* only the first 400 of 26006 characters of this result/s)
    expect(second).toMatch(/^second found .*\n\[Cut here: /s)
    expect(second?.length).toBeGreaterThan(8000)
    expect(tokensIn(kept)).toBeLessThanOrEqual(6000)
  })

  it('says that it does not fit if even the question is too long', async () => {
    const messages = [human('word '.repeat(500)), asks('a'), result('a', 'word '.repeat(500))]
    const { messages: kept, fits } = await fitting(messages, 100)
    expect(fits).toBe(false)
    expect(kept[0]).toBe(messages[0])
  })

  it('holds the question in every prompt, within the budget if that is possible', async () => {
    const words = fc
      .tuple(fc.constantFrom('word ', '漢字', '😀', '{"a":1},'), fc.nat(120))
      .map(([text, times]) => text.repeat(times))
    const said = fc.oneof(
      words.map(human),
      words.map((content): Message => ({ type: 'AIMessage', data: { id: `a${counter++}`, content } })),
      words.map(system),
    )
    const step = fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), words), { minLength: 1, maxLength: 3 })
      .map((calls) => [asks(...calls.map(([id]) => id)), ...calls.map(([id, content]) => result(id, content))])
    const conversation = fc
      .tuple(fc.array(said, { maxLength: 5 }), words.map(human), fc.array(step, { maxLength: 5 }))
      .map(([before, question, steps]) => ({ question, messages: [...before, question, ...steps.flat()] }))
    let cuts = 0
    await fc.assert(
      fc.asyncProperty(conversation, fc.integer({ min: 50, max: 1000 }), async ({ question, messages }, budget) => {
        const { messages: kept, fits } = await fitting(messages, budget)
        const prompt = promptOf(kept, [])
        expect(prompt.filter(({ role }) => role === 'user').at(-1)?.content).toBe(question.data.content)
        expect(kept.map(({ data: { id } }) => id)).toEqual(
          messages.map(({ data: { id } }) => id).filter((id) => kept.some((message) => message.data.id === id)),
        )
        expect(JSON.stringify(prompt)).not.toMatch(/\\ud[89a-f]/)
        const steps = messages.slice(messages.indexOf(question))
        const newest = steps.findLast(({ type }) => type === 'AIMessage') ?? question
        expect(kept).toContain(newest)
        const noResults = prompt.filter(({ content }) => content === 'There is no result of this call.')
        expect(noResults).toEqual([])
        // The texts of a step are counted together, which merges tokens where they meet.
        expect(fits ? tokensIn(kept) : 0).toBeLessThanOrEqual(budget + 2 * kept.length)
        if (kept.length < messages.length) cuts += 1
      }),
      { numRuns: 150 },
    )
    expect(cuts).toBeGreaterThan(30)
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
