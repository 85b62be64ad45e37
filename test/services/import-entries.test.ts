import { expect, it } from 'vitest'
import { createEntryImport } from '../../services/import/import-entries.ts'
import { createReport } from '../../services/import/report.ts'

it('an import holds few entries without messages whose predecessors are missing', async () => {
  const thread = { _id: 'thread' }
  const collections = { threads: { findOne: () => ({ lean: async () => thread }) } }
  const { report, ...writer } = createReport()
  const entries = createEntryImport(
    // Nothing else is called for an entry that comes too early.
    { collections, transaction: async () => undefined } as unknown as Parameters<typeof createEntryImport>[0],
    { userId: 'user', idOf: (_kind, id) => id, report: { report, ...writer } },
  )
  const entry = {
    thread_id: 'thread',
    source: 'update' as const,
    messages_json: '[]',
    words: [],
    created_at: '2026-01-01T00:00:00Z',
  }
  // An archive may have five million.
  for (let seq = 2; seq < 100_000; seq++) await entries.take({ ...entry, seq })
  const held = 99_998 - report.refused.messages
  expect(held).toBeLessThan(70_000)
  expect(held).toBeGreaterThan(10_000)
  entries.end()
  expect(report.refused.messages).toBe(99_998)
})
