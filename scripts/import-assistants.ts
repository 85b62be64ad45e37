import { parseArgs } from 'node:util'
import { importDump } from './moving/import-dump.ts'
import { clientOf, printEvery, textOf } from './moving/program.ts'

/** `npm run import:assistants`: docs/moving-from-assistants.md. */
const usage = `usage: npm run import:assistants -- --from DUMP.jsonl [--url URL] [--key KEY]

--from      the dump; the bytes of its files lie beside it
--url       the server, with /v1 (default: http://127.0.0.1:8100/v1)
--key       the service token of the project that takes the dump (default: the variable ASSISTANTS_KEY)
--progress  the file that notes what was made (default: the dump's name and .progress)`

const { values } = parseArgs({
  options: { from: { type: 'string' }, url: { type: 'string' }, key: { type: 'string' }, progress: { type: 'string' } },
})
const client = clientOf(values)
if (values.from === undefined || client === undefined) {
  console.error(usage)
  process.exit(2)
}
try {
  const report = await importDump({
    dump: values.from,
    client,
    progressFile: values.progress ?? `${values.from}.progress`,
    print: console.log,
    onProgress: printEvery(console.error),
  })
  for (const [kind, { made, there, refused, partial }] of Object.entries(report.counts()))
    console.log(
      kind === 'dump'
        ? `lines that are no objects of the interface: ${refused}`
        : `${kind}: ${made} made, ${there} there already, ${refused} not taken, ${partial} parts left out`,
    )
  if (report.refusals() > 0) process.exitCode = 1
} catch (error) {
  console.error(textOf(error))
  console.error('Nothing is lost: run the same command again, and the import goes on.')
  process.exitCode = 1
}
