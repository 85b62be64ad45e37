import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { queueName } from '../../domain/contracts/workflow-contract.ts'
import { newId } from '../../domain/ids.ts'
import { codecTokenOf } from '../../infra/temporal/codec-token.ts'
import { createPayloadCodec, keyIdOf } from '../../infra/temporal/data-converter.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { type RunningService, startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, insertUser } from '../support/users.ts'

const uiOrigin = 'http://127.0.0.1:8233'

interface JsonPayload {
  metadata: Record<string, string>
  data: string
}

describe('the payload codec', () => {
  const service = useStarted(() =>
    startService({
      env: { TEMPORAL_CODEC_KEY: randomBytes(32).toString('base64'), TEMPORAL_UI_ORIGINS: uiOrigin },
    }),
  )

  const decodePath = () => `/codec/${codecTokenOf(service.settings)}/decode`

  it('encrypts histories, which the endpoint decrypts', async () => {
    const user = await insertUser(service)
    const { body: thread } = await user.call('POST', '/threads/', {})
    expect((await user.call('DELETE', `/threads/${thread.thread_id}`)).status).toBe(200)
    const email = `${newId()}@example.com`
    const { call } = apiClient(service.url)
    const { body: signup } = await call('POST', '/auth/signup', { email, password: goodPassword })
    const found = await service.collections.users.findOne({ email }).lean()
    expect(signup.user_id ?? found?._id).toBe(found?._id)

    for (const workflowId of [
      deletionContract.id({ kind: 'thread', id: thread.thread_id }),
      emailVerificationContract.id({ userId: found?._id ?? '' }),
    ]) {
      const payloads = await payloadsOf(service, workflowId)
      expect(payloads.length).toBeGreaterThan(0)
      expect(payloads.filter((payload) => encodingOf(payload) !== 'binary/encrypted')).toEqual([])
      const { body } = await call('POST', decodePath(), { payloads })
      const readable = body.payloads
        .map((payload: JsonPayload) => Buffer.from(payload.data, 'base64').toString())
        .join('\n')
      expect(readable).toContain(workflowId.split('/')[1])
      expect(body.payloads.map(encodingOf)).not.toContain('binary/encrypted')
      expect(readable).not.toContain(email)
    }
  })

  it('encrypts messages of failures', async () => {
    const workflowId = `test/${newId()}`
    const handle = await service.temporal.workflow.start(deletionContract.type.name, {
      workflowId,
      taskQueue: queueName(deletionContract.queue, service.settings.taskQueuePrefix),
      args: [{ kind: 'nothing that there is', id: 'x', receiptId: newId() }],
    })
    const failure = await eventually('a failed activity', async () => {
      const { raw } = await handle.describe()
      return raw.pendingActivities?.[0]?.lastFailure ?? undefined
    })
    expect(failure.message).toBe('Encoded failure')
    expect(JSON.stringify(failure)).not.toContain('unexpected failure')
    const { body } = await apiClient(service.url).call('POST', decodePath(), {
      payloads: [toJson(failure.encodedAttributes)],
    })
    expect(Buffer.from(body.payloads[0].data, 'base64').toString()).toContain('unexpected failure')
    await handle.terminate('the test is over')
  })

  it('accepts only its own token at the endpoint, and only the origins of the UI', async () => {
    const { call } = apiClient(service.url)
    const payloads = [
      {
        metadata: { encoding: Buffer.from('json/plain').toString('base64') },
        data: Buffer.from('"hi"').toString('base64'),
      },
    ]
    for (const path of ['/codec/decode', '/codec/wrong/decode', `/codec/${service.settings.adminToken}/decode`]) {
      expect((await call('POST', path, { payloads })).status).toBe(401)
    }
    const bearer = apiClient(service.url, codecTokenOf(service.settings))
    const encoded = await bearer.call('POST', '/codec/encode', { payloads })
    expect(encoded.body.payloads.map(encodingOf)).toEqual(['binary/encrypted'])
    expect((await bearer.call('POST', '/codec/decode', encoded.body)).body).toEqual({ payloads })
    expect((await bearer.call('POST', '/codec/decode', { payloads: 'x' })).status).toBe(422)
    // A key with a line break is checked like any other.
    for (const key of ['encoding', 'a\nb', 'a\u2028b'])
      expect((await bearer.call('POST', '/codec/encode', { payloads: [{ metadata: { [key]: 5 } }] })).status).toBe(422)
    const spoilt = [{ ...encoded.body.payloads[0], data: Buffer.alloc(60).toString('base64') }]
    expect((await bearer.call('POST', '/codec/decode', { payloads: spoilt })).status).toBe(400)

    const preflight = (origin: string) =>
      fetch(`${service.url}${decodePath()}`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,x-namespace',
        },
      })
    expect((await preflight(uiOrigin)).headers.get('access-control-allow-origin')).toBe(uiOrigin)
    expect((await preflight('https://elsewhere.example.com')).headers.get('access-control-allow-origin')).toBeNull()
    const headers = { origin: uiOrigin, 'x-namespace': 'default' }
    const answer = await call('POST', decodePath(), { payloads: [] }, headers)
    expect(answer.headers.get('access-control-allow-origin')).toBe(uiOrigin)
    expect(answer.body).toEqual({ payloads: [] })
  })

  it('decrypts with previous keys, and refuses foreign and changed payloads', async () => {
    const [old, current, foreign] = [randomBytes(32), randomBytes(32), randomBytes(32)]
    const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"a":1}') }
    const [encrypted = {}] = await createPayloadCodec([old]).encode([payload])
    const rotated = createPayloadCodec([current, old])
    expect(
      (await rotated.decode([encrypted, payload])).map((entry) => Buffer.from(entry.data ?? []).toString()),
    ).toEqual(['{"a":1}', '{"a":1}'])
    const [anew = {}] = await rotated.encode([payload])
    expect(Buffer.from(anew.metadata?.['encryption-key-id'] ?? []).toString()).toBe(keyIdOf(current))
    await expect(createPayloadCodec([foreign]).decode([encrypted])).rejects.toThrow('not configured')
    const changed = Buffer.from(encrypted.data ?? [])
    changed.writeUInt8(changed.readUInt8(40) ^ 1, 40)
    await expect(rotated.decode([{ ...encrypted, data: changed }])).rejects.toThrow()
  })
})

const encodingOf = (payload: JsonPayload) => Buffer.from(payload.metadata['encoding'] ?? '', 'base64').toString()

/** Every payload of a history as it is stored; search attributes are no secret and are left out. */
async function payloadsOf(service: RunningService, workflowId: string): Promise<JsonPayload[]> {
  const { history } = await service.temporal.workflowService.getWorkflowExecutionHistory({
    namespace: service.settings.temporalNamespace,
    execution: { workflowId },
  })
  const found: JsonPayload[] = []
  const visit = (value: unknown, key: string): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array || key === 'searchAttributes') return
    if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) found.push(toJson(value))
    else for (const [name, entry] of Object.entries(value)) visit(entry, name)
  }
  visit(history?.events, '')
  return found
}

function toJson(payload: object | null | undefined): JsonPayload {
  const { metadata, data }: { metadata?: Record<string, Uint8Array>; data?: Uint8Array } = payload ?? {}
  const encoded = Object.entries(metadata ?? {}).map(
    ([name, bytes]) => [name, Buffer.from(bytes).toString('base64')] as const,
  )
  return { metadata: Object.fromEntries(encoded), data: Buffer.from(data ?? []).toString('base64') }
}
