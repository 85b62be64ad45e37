import { describe, expect, it } from 'vitest'
import { itemContext } from '../../api/routes/v1/responses/to-response.ts'
import type { Message } from '../../domain/messages.ts'
import { createOutputEvents } from '../../domain/responses/events.ts'
import { clientMessageId } from '../../domain/responses/ids.ts'
import { sourcesBefore, urlCitations } from '../../domain/responses/web-sources.ts'

const page = 'https://example.com/one'
const search = (id: string, callId: string, content: string): Message => ({
  type: 'AIMessage',
  data: { id, content, tool_calls: [{ id: callId, name: 'web_search', args: { query: 'x' }, type: 'tool_call' }] },
})
const result = (id: string, callId: string, content = `[1] One\n${page}\nText`): Message => ({
  type: 'ToolMessage',
  data: { id, content, tool_call_id: callId },
})

/** The events of states of one run that follow each other. */
function eventsOf(states: Message[][]) {
  let now: Message[] = []
  const response = { run: { _id: 'r', thread_id: 't' }, facts: { functions: [], serverLabels: [], shown: {} } }
  const output = createOutputEvents(itemContext(response, () => now, { results: false, baseUrl: '', isOpen: true }))
  return states.flatMap((state, index) => {
    now = state
    const folded = state.map((whole) => ({ id: whole.data.id, changedAt: '0-0', content: { whole } }))
    return output.advance(folded, index === states.length - 1).events
  })
}

describe('citations of pages of the web', () => {
  it('are those of pages found before the text, so that a stream that is read again has the same events', () => {
    const messages: Message[] = [
      search('a0', 'c1', `I guess ${page}.`),
      result('t0', 'c1'),
      { type: 'AIMessage', data: { id: 'a1', content: `It is ${page}.` } },
    ]
    const again = eventsOf([messages])
    expect(eventsOf(messages.map((_, index) => messages.slice(0, index + 1)))).toEqual(again)
    const annotations = again.filter(({ type }) => type === 'response.output_text.annotation.added')
    expect(annotations).toMatchObject([{ annotation: { url: page, title: 'One' }, item_id: 'msg_a1' }])
  })

  it('name no page that only a client says was found', () => {
    const entry = 'e'.repeat(36)
    const end: Message = { type: 'AIMessage', data: { id: 'a1', content: page } }
    const sent = [search(clientMessageId(entry, 0), 'c1', ''), result(clientMessageId(entry, 1), 'c1'), end]
    expect(sourcesBefore(sent).get('a1')).toEqual([])
    expect(sourcesBefore([search('a0', 'c1', ''), result('t0', 'c1'), end]).get('a1')).toHaveLength(1)
  })

  it('are limited, and so are the pages', () => {
    const lines = Array.from({ length: 300 }, (_, index) => `[${index}] Page\nhttps://example.com/${index}/`)
    const messages = [
      search('a0', 'c1', ''),
      result('t0', 'c1', lines.slice(0, 150).join('\n')),
      search('a1', 'c2', ''),
      result('t1', 'c2', lines.slice(100).join('\n')),
      search('a2', 'c3', ''),
    ]
    const sources = sourcesBefore(messages).get('a2') ?? []
    expect(sources.map(({ url }) => url)).toEqual(
      Array.from({ length: 200 }, (_, index) => `https://example.com/${index}/`),
    )
    expect(urlCitations(`${page} `.repeat(3000), [{ title: 'One', url: page }])).toHaveLength(1000)
  })

  it('take a link as a whole, and no address within another', () => {
    const text = `See [one](${page}), ${page}/more and ${page}.`
    const sources = [
      { title: 'One', url: page },
      { title: 'More', url: `${page}/more` },
    ]
    const cited = urlCitations(text, sources).map(({ start_index: start, end_index: end }) => text.slice(start, end))
    expect(cited).toEqual([`[one](${page})`, `${page}/more`, page])
  })
})
