import { expect, it } from 'vitest'
import { readRecord } from '../../domain/archive/read-record.ts'

it('a configuration in an archive that no request could bring is refused where the archive is read', () => {
  const assistant = { assistant_id: 'a', project_id: 'p', name: 'A', created_at: '2026-01-01T00:00:00.000Z' }
  const read = (config: object) => readRecord('assistants', { ...assistant, config }, (message) => message)
  const lists = (count: number) => Array.from({ length: count }, () => [])
  expect(read({ lists: lists(49_000) })).toMatchObject({ type: 'record', id: 'a' })
  expect(read({ lists: lists(51_000) })).toMatchObject({ type: 'refused', id: 'a' })
  expect(read({ text: 'x'.repeat(1024 * 1024) })).toMatchObject({ type: 'refused', id: 'a' })
})

it('messages of an archive keep their place among versions, and that a call was rejected or failed', () => {
  const messages = [
    { type: 'HumanMessage', data: { id: 'b', content: 'B', after: null } },
    { type: 'ToolMessage', data: { id: 'c', content: 'No.', tool_call_id: 'x', rejected: true } },
    { type: 'ToolMessage', data: { id: 'd', content: 'Away.', tool_call_id: 'y', failed: true } },
  ]
  const entry = { thread_id: 't', seq: 1, source: 'update', created_at: '2026-01-01T00:00:00.000Z', messages }
  const read = readRecord('messages', entry, (message) => message)
  expect(read).toMatchObject({ type: 'record', record: { messages_json: JSON.stringify(messages) } })
})
