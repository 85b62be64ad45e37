import { beforeAll, describe, expect, it } from 'vitest'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]`
const maxAnswer = 4000

describe('oversized requests', () => {
  const service = useModelService({ respond: () => ({ text: 'Hi' }), env: { MAX_BODY_MB: '2' } })
  let user: TestUser
  beforeAll(async () => {
    user = await insertUser(service)
  })
  const anybody = () => apiClient(service.url)

  describe('without a token', () => {
    it('are refused by the access check before other members of the body are validated', async () => {
      const input = zeros(50_000)
      const { id } = await newPublicAssistant(service)
      for (const [assistant, status] of [
        ['x', 404],
        [id, 401],
      ]) {
        const answer = await anybody().call(
          'POST',
          '/public/runs/stream',
          `{"assistant_id":"${assistant}","input":${input}}`,
        )
        expect([answer.status, typeof answer.body.detail]).toEqual([status, 'string'])
      }
      const nobody = await anybody().call('POST', '/public/runs/stream', `{"input":${input}}`)
      expect(nobody.status).toBe(422)
      expect(nobody.body.detail).toEqual([{ loc: ['body', 'assistant_id'], msg: 'is required', type: 'missing' }])
    })

    it('get a short answer on an assistant that is open to everybody', async () => {
      const { id } = await newPublicAssistant(service, { mode: 'public_no_auth' })
      for (const input of [zeros(150_000), `[${'{"type":"human","content":0},'.repeat(999)}0]`, '{"messages":[{}]}']) {
        const answer = await anybody().call('POST', '/public/runs/stream', `{"assistant_id":"${id}","input":${input}}`)
        expect(answer.status).toBe(422)
        expect(answer.text.length).toBeLessThan(maxAnswer)
        expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'input'])
      }
    })

    it('are answered 413 above a megabyte, with detail', async () => {
      const input = zeros(1_000_000)
      const native = await anybody().call('POST', '/public/runs/stream', `{"assistant_id":"x","input":${input}}`)
      expect([native.status, native.body]).toEqual([413, { detail: 'The body is too large.' }])
      const { token } = await newPublicAssistant(service)
      const compat = await apiClient(service.url, token).call(
        'POST',
        '/public/v1/chat/completions',
        `{"model":"m","messages":${input}}`,
      )
      expect(compat.status).toBe(413)
      expect(compat.body).toMatchObject({ detail: 'The body is too large.', error: { code: 'payload_too_large' } })
    })

    it.each(['/auth/login', '/auth/signup', '/auth/reset-password', '/nowhere', '/codec/decode', '/runs/stream'])(
      'to %s are refused before a large body is parsed',
      async (path) => {
        const answer = await anybody().call('POST', path, `{"email":${zeros(40_000)}}`)
        const expected = path === '/nowhere' ? 404 : path.startsWith('/auth') ? 413 : 401
        expect([answer.status, typeof answer.body.detail]).toEqual([expected, 'string'])
      },
    )

    it('never lead to a long answer of an account route', async () => {
      const answer = await anybody().call('POST', '/auth/login', `{"email":"${'a@'.repeat(30_000)}","password":0}`)
      expect(answer.status).toBe(422)
      expect(answer.text.length).toBeLessThan(maxAnswer)
    })
  })

  describe('of a user', () => {
    it('get one problem, not one for each member', async () => {
      const answer = await user.call('POST', '/runs/stream', `{"thread_id":"t","input":${zeros(500_000)}}`)
      expect(answer.status).toBe(422)
      expect(answer.text.length).toBeLessThan(maxAnswer)
    })

    it('are answered 413 above MAX_BODY_MB, and above 64 KB on account routes', async () => {
      const text = 'x'.repeat(2.1 * 1024 * 1024)
      const large = await user.call('POST', '/assistants/', { name: 'a', config: { text } })
      expect([large.status, large.body]).toEqual([413, { detail: 'The body is too large.' }])
      for (const [method, path] of [
        ['PATCH', '/user/'],
        ['POST', '/user/change-password'],
        ['DELETE', '/auth/delete-user'],
      ] as const) {
        const answer = await user.call(method, path, { first_name: 'x'.repeat(70_000) })
        expect([path, answer.status]).toEqual([path, 413])
      }
    })

    it('leave the connection usable, and do not block other requests', async () => {
      const flood = Array.from({ length: 8 }, () =>
        user.call('POST', '/runs/stream', `{"thread_id":"t","input":${zeros(900_000)}}`),
      )
      const bystander = await anybody().call('GET', '/assistants/public/')
      expect(bystander.status).toBe(200)
      expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 422))
    })
  })
})
