import { expect, it } from 'vitest'
import { checkCounters } from '../../faults/checker/counters.ts'
import type { Records } from '../../faults/checker/evidence.ts'
import { checkFiles, chunkTexts } from '../../faults/checker/files.ts'
import type { Intention } from '../../faults/client-log.ts'

const intentionOf = (id: string, file: string): Intention => ({
  id,
  kind: 'upload',
  facts: { document: 'a.txt' },
  begunAt: 0,
  endedAt: 1,
  acknowledged: { id: file },
  withdrawn: false,
})

it('finds the chunks of a file that has the bytes of another one, which was deleted since', async () => {
  const group = { _id: 'g', file_id: 'first', position: 0, chunks_json: '[{"text":"a"},{"text":"b"}]' }
  const file = { assistant_id: 'assistant', status: 'ready', chunks: 2, embedded: 2 }
  const records: Records = new Map([
    ['assistants', [{ _id: 'assistant', project_id: 'project' }]],
    ['projects', [{ _id: 'project', user_id: 'user' }]],
    ['users', [{ _id: 'user' }]],
    ['chunks', [group]],
    ['blobs.files', [{ _id: 'in a bucket', length: 1, chunkSize: 1, store: 's3://assistants/files' }]],
    [
      'files',
      [
        { ...file, _id: 'copy', content_id: 'first' },
        { ...file, _id: 'lost' },
      ],
    ],
  ])
  const problems: string[] = []
  const report = (kind: string, what: string, intention?: Intention) =>
    void problems.push(`${kind} ${intention?.id ?? ''}: ${what}`)
  const intentions = new Map([
    ['i1', intentionOf('i1', 'copy')],
    ['i2', intentionOf('i2', 'lost')],
  ])
  const vectors = { count: async (_space: string, id?: string) => (id === 'first' ? 2 : 0) }
  const undisturbed = new Map([['a.txt', chunkTexts([group])]])
  await checkFiles({ log: { intentions }, stores: { vectors }, undisturbed }, records, report)
  checkCounters(records, report)
  expect(problems).toEqual([
    'lost i2: 0 of 2 chunks',
    'lost i2: 0 vectors of 2',
    'wrong : chunks of file lost is 2, a recount gives 0',
  ])
})
