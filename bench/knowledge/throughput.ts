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
 * Uploads until everything can be found, beside the bare extraction library on the same files, in
 * turns: a machine that slows down slows both.
 */
export async function benchThroughput(context: BenchContext): Promise<void> {
  const bare = startBare()
  await bare.ready
  const rows: (string | number)[][] = []
  for (const { name, pages } of [
    { name: 'devils-dictionary.pdf', pages: 140 },
    { name: 'devils-dictionary.docx', pages: undefined },
  ]) {
    const path = join(corpus, name)
    const bytes = await readFile(path)
    const files = Array.from({ length: copies }, (_, index) => ({
      name: `${index}-${name}`,
      content: new Blob([bytes]),
    }))
    const megabytes = (bytes.length * copies) / 1024 / 1024
    const client = await newKnowledge(context)
    const alone: number[] = []
    const whole: number[] = []
    for (let round = -1; round < rounds; round++) {
      await pause(restMs)
      const bareSeconds = await secondsOf(async () => {
        for (let copy = 0; copy < copies; copy++) await bare.extract(path)
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
    const share = (100 * sum(alone)) / sum(whole)
    rows.push([`${copies} × ${name}: library alone`, ...speed(alone), ''])
    rows.push([`${copies} × ${name}: upload to found`, ...speed(whole), `${share.toFixed(0)} %`])
  }
  bare.stop()
  context.log('\n### Through the pipeline, with an embedding server that answers at once\n')
  context.log(table(['', 'pages/s', 'MB/s', 'of the library alone (goal: 70 %, DOCX 60)'], rows))
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
