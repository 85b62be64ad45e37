import { once } from 'node:events'
import { parseOwnJson } from '../../../domain/json.ts'
import { linesOf } from '../../lines.ts'
import type { InterpreterJob, InterpreterLine } from '../messages.ts'
import { createDataFolder } from './data-folder.ts'
import { startPython } from './python.ts'

/** The process that executes Python for models. Its argument is the folder of the packages that it offers. */
async function write(line: InterpreterLine): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain')
}

const python = await startPython(process.argv[2])
const data = createDataFolder(python.fileSystem)
await write({ ready: true })

// Ends with the parent, because the parent's end of the pipe is closed then.
for await (const line of linesOf(process.stdin)) {
  const job = parseOwnJson<InterpreterJob>(line)
  if ('put' in job) data.put(job.put.path, Buffer.from(job.put.base64, 'base64'))
  else {
    const result = await python.run(job.run.code)
    const { files, leftOut } = data.changes()
    for (const { path, bytes } of files) await write({ file: { path, base64: bytes.toString('base64') } })
    await write({ end: { ...result, leftOut } })
  }
}
