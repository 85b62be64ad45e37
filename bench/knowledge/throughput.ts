import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { linesOf } from '../../infra/lines.ts'
import type { BenchContext } from '../environment.ts'
import { secondsOf, table } from '../statistics.ts'
import { newKnowledge } from './client.ts'

const corpus = join(import.meta.dirname, '..', 'corpus')
const copies = 8
const rounds = 3
/** What the service does after it has answered, such as merges of indexes, must not slow down the library. */
const restMs = 2000

/**
 * Uploads until everything can be found, those of PDF beside PDFium alone on the same files, in
 * turns: a machine that slows down slows both.
 */
export async function benchThroughput(context: BenchContext): Promise<void> {
  const bare = startBare()
  await bare.ready
  const rows: (string | number)[][] = []
  for (const { name, pages, changed } of [
    { name: 'devils-dictionary.pdf', pages: 140, changed: endedByComment },
    // No library reads Word files as we do.
    { name: 'devils-dictionary.docx', pages: undefined, changed: withZipComment },
  ]) {
    const path = join(corpus, name)
    const bytes = await readFile(path)
    const megabytes = (bytes.length * copies) / 1024 / 1024
    const client = await newKnowledge(context)
    const alone: number[] = []
    const whole: number[] = []
    for (let round = -1; round < rounds; round++) {
      // The same bytes again would be read and embedded once.
      const files = Array.from({ length: copies }, (_, index) => ({
        name: `${index}-${name}`,
        content: new Blob([changed(bytes, `${round}-${index}`)]),
      }))
      await pause(restMs)
      const bareSeconds = await secondsOf(async () => {
        if (pages !== undefined) for (let copy = 0; copy < copies; copy++) await bare.extract(path)
      })
      const pipelineSeconds = await secondsOf(async () => {
        const { files: done } = await client.upload(files)
        const failed = done.find((file) => file.metadata.status !== 'ready')
        if (failed) throw new Error(`a file is not ready: ${JSON.stringify(failed)}`)
      })
      // The first round warms both up.
      if (round < 0) continue
      alone.push(bareSeconds)
      whole.push(pipelineSeconds)
    }
    const speed = (times: number[]) => {
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length
      return [pages === undefined ? '' : ((pages * copies) / mean).toFixed(0), (megabytes / mean).toFixed(2)]
    }
    const share = pages === undefined ? '' : `${((100 * sum(alone)) / sum(whole)).toFixed(0)} %`
    if (pages !== undefined) rows.push([`${copies} × ${name}: PDFium alone`, ...speed(alone), ''])
    rows.push([`${copies} × ${name}: upload to found`, ...speed(whole), share])
  }
  bare.stop()
  context.log('\n### Through the pipeline, with an embedding server that answers at once\n')
  context.log(table(['', 'pages/s', 'MB/s', 'of PDFium alone (goal: 70 %)'], rows))
}

function endedByComment(pdf: Buffer, comment: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([pdf, Buffer.from(`\n%${comment}\n`)]))
}

/** The last two bytes of the archive are the length of its comment. */
function withZipComment(archive: Buffer, comment: string): Uint8Array<ArrayBuffer> {
  const length = Buffer.alloc(2)
  length.writeUInt16LE(comment.length)
  return new Uint8Array(Buffer.concat([archive.subarray(0, -2), length, Buffer.from(comment)]))
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

function startBare() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-extraction.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = linesOf(child.stdout)
  return {
    ready: lines.next(),
    async extract(path: string): Promise<void> {
      child.stdin.write(`${path}\n`)
      await lines.next()
    },
    stop: () => child.kill(),
  }
}
