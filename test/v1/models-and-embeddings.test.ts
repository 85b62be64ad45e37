import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { embedByHashing } from '../../local/demo-model/embed.ts'
import { apiClient } from '../support/api-client.ts'
import { startModelService, useModelService } from '../support/model-service.ts'
import { startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

const model = 'text-embedding-3-small'

describe('/v1', () => {
  const service = useModelService({ worker: false, env: { CORS_ORIGINS: 'https://app.example.com' } })

  describe('the way in', () => {
    it('is the token of a project; any other key is refused in the shape that clients parse', async () => {
      const { client, owner } = await v1Client(service)
      await client.models.list()
      // The token of a login is pinned to a project, too.
      await clientWith(service, owner.token).models.list()
      for (const key of ['wrong', `${owner.token}x`]) {
        const error = await refusalOf(clientWith(service, key).models.list())
        expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
        expect(error.error).toEqual({
          message: 'The access token is invalid.',
          type: 'authentication_error',
          param: null,
          code: 'invalid_api_key',
        })
      }
    })

    it('is closed when the project is gone', async () => {
      const user = await insertUser(service)
      const token = await service.api.services.tokens.sign({ user_id: user.userId, project_id: newId() })
      const error = await refusalOf(clientWith(service, token).models.list())
      expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError)
      expect(error.error).toMatchObject({ type: 'permission_error', code: 'forbidden' })
    })

    it('answers unknown paths and methods in the same shape', async () => {
      const { owner } = await v1Client(service)
      const unknown = await owner.call('GET', '/v1/nothing')
      expect(unknown.status).toBe(404)
      expect(unknown.body).toEqual({
        error: {
          message: 'GET /v1/nothing is not offered here.',
          type: 'invalid_request_error',
          param: null,
          code: 'not_found',
        },
      })
      expect((await owner.call('DELETE', '/v1/embeddings')).body.error).toMatchObject({ code: 'method_not_allowed' })
      expect((await apiClient(service.url).call('GET', '/v1/models')).body.error).toMatchObject({
        code: 'invalid_api_key',
      })
    })

    it('is open to pages of the configured origins', async () => {
      const preflight = (origin: string) =>
        fetch(`${service.url}/v1/embeddings`, {
          method: 'OPTIONS',
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,content-type,x-stainless-os',
          },
        })
      const known = await preflight('https://app.example.com')
      expect(known.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
      expect(known.headers.get('access-control-allow-headers')).toContain('x-stainless-os')
      expect((await preflight('https://other.example.com')).headers.get('access-control-allow-origin')).toBeNull()
    })
  })

  describe('models', () => {
    it('are the assistants of the project and the models of the settings', async () => {
      const { client, owner } = await v1Client(service)
      const { assistant_id: id } = await owner.post('/assistants/', { name: 'Helper' })
      const { data } = await client.models.list()
      expect(data[0]).toEqual({
        id,
        object: 'model',
        created: expect.any(Number),
        owned_by: 'assistant-platform',
      })
      expect(data.map((one) => one.id)).toEqual([id, model, service.settings.defaultModel])
      expect(await client.models.retrieve(String(id))).toEqual(data[0])
      expect(await client.models.retrieve(model)).toMatchObject({ id: model, created: 0 })
      // Another project of the same user does not see the assistant.
      const { project_id: other } = await owner.post('/projects/', { name: 'Other' })
      const { jwt_token: token } = await owner.get(`/projects/${other}`)
      const second = clientWith(service, String(token))
      expect((await second.models.list()).data.map((one) => one.id)).not.toContain(id)
      const error = await refusalOf(second.models.retrieve(String(id)))
      expect(error).toBeInstanceOf(OpenAI.NotFoundError)
      expect(error.code).toBe('model_not_found')
    })
  })

  describe('models of the server', () => {
    it('are listed and read, also with a slash in the name, and the server is asked once for many', async () => {
      const served = await startModelService({ worker: false })
      try {
        served.model.listing.ids = ['gpt-4o', 'meta-llama/Llama-3.3-70B', 'scripted']
        const { client, owner } = await v1Client(served)
        const ids = (await client.models.list()).data.map(({ id }) => id)
        expect(ids).toEqual(['text-embedding-3-small', 'scripted', 'gpt-4o', 'meta-llama/Llama-3.3-70B'])
        for (const path of ['gpt-4o', 'meta-llama/Llama-3.3-70B', 'meta-llama%2FLlama-3.3-70B'])
          expect(await owner.get(`/v1/models/${path}`)).toMatchObject({ id: decodeURIComponent(path), object: 'model' })
        const unknown = await refusalOf(client.models.retrieve('nobody/has-it'))
        expect([unknown.status, unknown.code]).toEqual([404, 'model_not_found'])
        expect(served.model.listing.requests).toBe(1)
      } finally {
        await served.close()
      }
    })

    it('leave the list as it is, and are not denied, while the server gives no list', async () => {
      const served = await startModelService({ worker: false })
      try {
        served.model.listing.status = 500
        const { client } = await v1Client(served)
        expect((await client.models.list()).data.map(({ id }) => id)).toContain('scripted')
        const unknown = await refusalOf(client.models.retrieve('gpt-4o'))
        expect([unknown.status, unknown.code]).toEqual([503, 'unavailable'])
        expect(served.model.listing.requests).toBe(1)
      } finally {
        await served.close()
      }
    })
  })

  describe('embeddings', () => {
    it('are numbers or base64, of one text or of several, with usage', async () => {
      const { client } = await v1Client(service)
      const one = await client.embeddings.create({ model, input: 'One text', encoding_format: 'float' })
      expect(one).toMatchObject({ object: 'list', model, usage: { prompt_tokens: 1, total_tokens: 1 } })
      const [first] = one.data
      expect(first).toMatchObject({ object: 'embedding', index: 0 })
      expect(first?.embedding).toHaveLength(1536)
      const expected = embedByHashing('One text', 1536)
      expect(Math.max(...expected.map((value, at) => Math.abs(value - (first?.embedding[at] ?? 9))))).toBeLessThan(1e-6)
      const text = await client.embeddings.create({ model, input: ['One text', 'Two'], encoding_format: 'base64' })
      expect(text.data.map(({ embedding }) => Buffer.from(embedding, 'base64').length)).toEqual([6144, 6144])
      // By default the client asks for base64 and decodes it.
      const decoded = await client.embeddings.create({ model, input: ['Two', 'One text'] })
      expect(decoded.data[1]?.embedding).toEqual(first?.embedding.map((value) => Math.fround(value)))
      expect(decoded.usage.prompt_tokens).toBe(2)
    })

    it('have the length that was asked for', async () => {
      const { client } = await v1Client(service)
      const { data } = await client.embeddings.create({ model, input: 'Short', dimensions: 256 })
      expect(data[0]?.embedding).toHaveLength(256)
    })

    it('come in order when there are more than one request of the model server takes', async () => {
      const { client } = await v1Client(service)
      const before = service.model.embeddings.requests
      const input = Array.from({ length: 600 }, (_, index) => `text ${index}`)
      const { data } = await client.embeddings.create({ model, input, dimensions: 64 })
      expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index))
      expect(data[599]?.embedding).toEqual(embedByHashing('text 599', 64).map((value) => Math.fround(value)))
      expect(service.model.embeddings.requests - before).toBe(5)
    })

    it('take texts as tokens', async () => {
      const { client } = await v1Client(service)
      await client.embeddings.create({ model, input: [101, 102], dimensions: 8 })
      const { data } = await client.embeddings.create({ model, input: [[1, 2], [3]], dimensions: 8 })
      expect(data).toHaveLength(2)
      expect(service.model.embeddings.inputs.slice(-3)).toEqual(['101,102', '1,2', '3'])
    })

    it('are refused with the name of what is wrong', async () => {
      const { client } = await v1Client(service)
      const refused = async (body: object) => {
        const error = await refusalOf(client.embeddings.create(body as OpenAI.EmbeddingCreateParams))
        return [error.status, error.param, error.code]
      }
      expect(await refused({ model: 'another', input: 'x' })).toEqual([404, null, 'not_found'])
      expect(await refused({ model })).toEqual([400, 'input', 'missing_required_parameter'])
      expect(await refused({ model, input: 'x', dimensions: 0 })).toEqual([400, 'dimensions', 'invalid_value'])
      expect(await refused({ model, input: 'x', dimensions: 'many' })).toEqual([400, 'dimensions', 'invalid_type'])
      expect(await refused({ model, input: 'x', speed: 'fast' })).toEqual([400, 'speed', 'unknown_parameter'])
      expect((await refused({ model, input: '' }))[0]).toBe(400)
      expect((await refused({ model, input: [] }))[0]).toBe(400)
      expect(
        await refused({
          model,
          input: Array.from({ length: 2048 }, () => 'x'),
          dimensions: 4096,
          encoding_format: 'float',
        }),
      ).toEqual([400, 'input', 'invalid_value'])
    })

    it('pass the failures of the model server on', async () => {
      const { client } = await v1Client(service)
      service.model.embeddings.fail({ status: 429 })
      const error = await refusalOf(client.embeddings.create({ model, input: 'x' }))
      expect(error).toBeInstanceOf(OpenAI.RateLimitError)
      expect(error.error).toMatchObject({ code: 'model_busy', type: 'rate_limit_error' })
    })
  })
})

it('embeddings are 503 without a model', async () => {
  const service = await startService({ worker: false })
  try {
    const { client } = await v1Client(service)
    const error = await refusalOf(client.embeddings.create({ model, input: 'x' }))
    expect(error.status).toBe(503)
    expect(error.error).toMatchObject({ type: 'server_error', code: 'unavailable' })
    expect((await client.models.list()).data.map(({ id }) => id)).not.toContain(model)
  } finally {
    await service.close()
  }
})
