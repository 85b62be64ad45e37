import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { exportDump } from './moving/export-dump.ts'
import { clientOf, printEvery, textOf } from './moving/program.ts'

/** `npm run export:assistants`: docs/moving-from-assistants.md. */
const usage = `usage: npm run export:assistants -- --to FOLDER [--url URL] [--key KEY] [--thread ID]... [--threads FILE]

--to       a folder for export.jsonl and files/
--url      the server, with /v1 (default: http://127.0.0.1:8100/v1)
--key      its key (default: the variable ASSISTANTS_KEY)
--thread   the id of a thread; the interface does not list them
--threads  a file with such ids, one a line`

const { values } = parseArgs({
  options: {
    to: { type: 'string' },
    url: { type: 'string' },
    key: { type: 'string' },
    thread: { type: 'string', multiple: true, default: [] },
    threads: { type: 'string' },
  },
})
const client = clientOf(values)
if (values.to === undefined || client === undefined) {
  console.error(usage)
  process.exit(2)
}
try {
  const listed = values.threads === undefined ? [] : (await readFile(values.threads, 'utf8')).split('\n')
  const threads = [...values.thread, ...listed.map((id) => id.trim())].filter((id) => id !== '')
  const { counts, problems } = await exportDump({
    client,
    folder: values.to,
    threads: [...new Set(threads)],
    print: console.log,
    onProgress: printEvery(console.error),
  })
  for (const [kind, count] of Object.entries(counts)) console.log(`${kind}: ${count}`)
  if (problems > 0) process.exitCode = 1
} catch (error) {
  console.error(textOf(error))
  process.exitCode = 1
}
