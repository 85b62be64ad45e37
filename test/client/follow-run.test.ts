import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiError, type RunSnapshot, createClient, followRun, streamRun, unwrap } from '../../client/src/index.ts'
import { conversation } from '../runs/support.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

let model: ScriptedModel
let service: TestService
let proxy: Awaited<ReturnType<typeof startTcpProxy>>
let baseUrl: string
beforeAll(async () => {
  model = await startScriptedModel()
  service = await startService({ env: model.env })
  proxy = await startTcpProxy(new URL(service.url).host)
  baseUrl = `http://${proxy.address}`
})
afterAll(async () => {
  await proxy.close()
  await service.close()
  await model.close()
})

const textOf = ({ messages }: RunSnapshot) => messages.map(({ data }) => data.content).join('|')

test('a stream that is cut is resumed, without loss or repetition', async () => {
  const goOn = Promise.withResolvers<void>()
  model.reply({ text: ['The harbour ', goOn.promise, 'opens at six.'] })
  const { payload, client } = await conversation(service)
  const texts: string[] = []
  const connections = new Set<string>()
  const ids: string[] = []
  let last: RunSnapshot | undefined
  for await (const snapshot of streamRun({ baseUrl, token: () => client.token, body: payload('When?') })) {
    last = snapshot
    connections.add(snapshot.connection)
    if (snapshot.lastEventId !== ids.at(-1)) ids.push(String(snapshot.lastEventId))
    if (texts.at(-1) !== textOf(snapshot)) texts.push(textOf(snapshot))
    if (texts.length === 2 && texts[1] === 'The harbour ' && !connections.has('reconnecting')) proxy.refuse()
    if (snapshot.connection === 'reconnecting') {
      proxy.restore()
      goOn.resolve()
    }
  }
  expect(connections).toEqual(new Set(['open', 'reconnecting']))
  expect(last?.status).toBe('ended')
  expect(texts.at(-1)).toBe('The harbour opens at six.')
  expect(texts.every((text) => 'The harbour opens at six.'.startsWith(text))).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a silent connection is closed and opened again', async () => {
  const goOn = Promise.withResolvers<void>()
  model.reply({ text: ['One', goOn.promise, ' two'] })
  const { start, client } = await conversation(service)
  const run = await start('Count')
  let isStopped = false
  let last: RunSnapshot | undefined
  for await (const snapshot of followRun({ baseUrl, token: () => client.token, runId: run.run_id, silenceMs: 400 })) {
    last = snapshot
    if (textOf(snapshot) === 'One' && !isStopped) {
      isStopped = true
      proxy.swallow()
    }
    if (snapshot.connection === 'reconnecting' && isStopped) {
      proxy.restore()
      goOn.resolve()
    }
  }
  expect(isStopped).toBe(true)
  expect(last).toMatchObject({ status: 'ended' })
  expect(last && textOf(last)).toBe('One two')
})

test('aborting stops reading at once and does not affect the run', async () => {
  const goOn = Promise.withResolvers<void>()
  model.reply({ text: ['Begun', goOn.promise, ' and done'] })
  const { start, client } = await conversation(service)
  const run = await start('Go')
  const stop = new AbortController()
  for await (const snapshot of followRun({
    baseUrl,
    token: () => client.token,
    runId: run.run_id,
    signal: stop.signal,
  }))
    if (textOf(snapshot) === 'Begun') stop.abort()
  goOn.resolve()
  const states: RunSnapshot[] = []
  for await (const snapshot of followRun({ baseUrl, token: () => client.token, runId: run.run_id }))
    states.push(snapshot)
  expect(states.at(-1)).toMatchObject({ status: 'ended' })
})

test('a failed run gives its error', async () => {
  model.reply({ status: 400, errorMessage: 'no such model' })
  const { payload, client } = await conversation(service)
  const states: RunSnapshot[] = []
  for await (const snapshot of streamRun({ baseUrl, token: () => client.token, body: payload('Hi') }))
    states.push(snapshot)
  expect(states.at(-1)).toMatchObject({ status: 'failed', error: { message: expect.any(String) } })
})

test('a refusal is thrown with the message of the service, and not retried', async () => {
  const { client, threadId } = await conversation(service)
  const following = followRun({ baseUrl, token: () => client.token, runId: 'no-such-run' })
  await expect(following.next()).rejects.toThrow(ApiError)

  const api = createClient({ baseUrl, token: () => client.token })
  expect(await unwrap(api.GET('/threads/{tid}', { params: { path: { tid: threadId } } }))).toMatchObject({
    name: 'Talk',
  })
  const refused = unwrap(api.POST('/projects/', { body: { name: 'main' } }))
  await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/name/) })
})
