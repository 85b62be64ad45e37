import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess } from '../support/processes.ts'
import type { ScriptedToolCall } from '../support/scripted-model.ts'

describe('the memory of a process that executes steps', { timeout: 180_000 }, () => {
  let toolCall: ScriptedToolCall
  const service = useModelService({
    env: { OUTBOUND_ALLOW: '127.0.0.1/32', WORKER_QUEUES: 'deletions' },
    // A snapshot stops the process for seconds. Temporal may then give the call to another attempt, and the model is
    // asked again: so it asks for the tool each time.
    respond: () => ({ toolCalls: [toolCall] }),
  })
  let api: Awaited<ReturnType<typeof startApiProcess>>
  let folder: string
  let silent: Awaited<ReturnType<typeof startHttpServer>>
  let onCall = () => {}
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'assistant-heap-'))
    silent = await startHttpServer(async () => {
      onCall()
      await new Promise(() => {})
    })
    const options = `--heapsnapshot-signal=SIGWINCH --diagnostic-dir=${folder}`
    api = await startApiProcess({ ...service.env, RUNS_IN_API: 'true', NODE_OPTIONS: options })
  })
  afterAll(async () => {
    await api.kill()
    await silent.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Which of the texts are in the heap of the process, after a garbage collection. */
  async function heldOf(texts: string[]): Promise<string[]> {
    const before = new Set(await readdir(folder))
    process.kill(api.pid, 'SIGWINCH')
    const heap = await eventually('the heap snapshot', async () => {
      const [name] = (await readdir(folder)).filter((file) => !before.has(file))
      const text = name === undefined ? '' : await readFile(path.join(folder, name), 'utf8')
      return text.trimEnd().endsWith(']}') ? text : undefined
    })
    return texts.filter((text) => heap.includes(text))
  }

  it('holds nothing of a deleted thread: neither its conversation, nor a run whose tools are being called', async () => {
    const marker = (what: string) => `marker-${what}-${Math.random().toString(36).slice(2)}`
    const said = marker('said')
    const asked = marker('asked')
    const talk = await conversation({ ...service, url: api.url }, { 'type==agent/tools': [{ type: 'http_request' }] })
    service.model.reply({ text: `You said ${said}.` })
    expect(await talk.stream(said)).toMatchObject({ end: 'end' })

    const called = new Promise<void>((resolve) => (onCall = resolve))
    const args = { method: 'GET', url: `${silent.url}/${asked}` }
    toolCall = { id: 'c2', name: 'http_request', arguments: args }
    await talk.start('Go on')
    await called
    expect(await heldOf([said, asked])).toEqual([said, asked])

    const other = apiClient(service.url, talk.client.token)
    expect((await other.call('DELETE', `/threads/${talk.threadId}`)).status).toBe(200)
    await eventually('nothing in memory', async () => (await heldOf([said, asked])).length === 0)
  })
})
