import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { processOf } from '../../bench/processes.ts'
import { steadyMemory } from '../../local/steady-memory.ts'
import { apiClient } from '../support/api-client.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { inForm } from '../support/long-form.ts'
import { startApiProcess } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

/**
 * Four uploads of 256 MiB grew it by 40 MiB on a machine with four times as much work as cores, one of 1 GiB by 24; with
 * a new buffer for each piece, half as many bytes let it grow by 86.
 */
const mostMiB = 64
const totalBytes = inForm({ long: 1024 ** 3, short: 256 * 1024 ** 2 })
const timeoutMs = 600_000

describe('the memory of an API process', () => {
  it.each([1, 4])(
    `grows by less than 64 MiB while ${totalBytes / 1024 ** 2} MiB arrive in %i uploads, and others are answered meanwhile`,
    async (uploads) => {
      const service = await startService({ env: { OPENAI_API_KEY: 'unused' }, worker: false })
      try {
        const process = await startApiProcess({ ...service.env, ...steadyMemory, RUNS_IN_API: 'false' })
        const client = await knowledgeClient(await insertUser(service))
        const bystander = apiClient(process.url, (await insertUser(service)).token)
        const path = `${process.url}/assistants/${client.assistantId}/files?wait=false`
        const upload = (bytes: number) =>
          fetch(path, {
            method: 'POST',
            headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=end' },
            body: ReadableStream.from(formOf(bytes)),
            duplex: 'half',
          }).then(async (answer) => ({ status: answer.status, body: await answer.json() }))

        // What is loaded with the first upload is not counted.
        expect((await upload(8 * 1024 * 1024)).status).toBe(200)
        const { memoryMiB } = processOf(process.pid)
        const before = await memoryMiB()
        let most = before
        const arrived = Promise.all(Array.from({ length: uploads }, () => upload(totalBytes / uploads)))
        const over = Promise.race([arrived, process.exited]).then(() => true)
        do {
          most = Math.max(most, await memoryMiB())
          expect((await bystander.call('GET', '/assistants/')).status).toBe(200)
        } while (!(await Promise.race([over, pause(100, false)])))

        for (const answer of await arrived)
          expect(answer).toMatchObject({ status: 200, body: { files: [{ size: totalBytes / uploads }] } })
        expect(most - before).toBeLessThan(mostMiB)
        expect(await process.stop()).toBe(0)
      } finally {
        await service.close()
      }
    },
    timeoutMs,
  )
})

/** A form with one file of so many bytes, a whole number of pieces, made while it is sent. */
function* formOf(bytes: number): Generator<Uint8Array> {
  const text = (value: string) => new TextEncoder().encode(value)
  yield text('--end\r\nContent-Disposition: form-data; name="files"; filename="log.txt"\r\n\r\n')
  const piece = text('The wind is from the west, and so is the tide. '.repeat(2000)).slice(0, 65_536)
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece
  yield text('\r\n--end--\r\n')
}
