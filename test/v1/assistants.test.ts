import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: true,
  },
} as const

describe('assistants of /v1', () => {
  const service = useSharedService()

  it('are created, read, changed, listed and deleted, and are the assistants of the native API', async () => {
    const { client, owner } = await v1Client(service)
    const created = await client.beta.assistants.create({
      model: 'gpt-4o',
      name: 'Helper',
      description: 'Helps',
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 1,
      response_format: 'auto',
      metadata: { team: 'blue' },
      tools: [weather, { type: 'file_search', file_search: { max_num_results: 3 } }],
    })
    expect(created).toEqual({
      id: expect.any(String),
      object: 'assistant',
      created_at: expect.any(Number),
      model: 'gpt-4o',
      name: 'Helper',
      description: 'Helps',
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 1,
      response_format: 'auto',
      metadata: { team: 'blue' },
      tools: [weather, { type: 'file_search', file_search: { max_num_results: 3 } }],
      tool_resources: {},
    })
    expect(await client.beta.assistants.retrieve(created.id)).toEqual(created)
    const native = await owner.get(`/assistants/${created.id}`)
    expect(native).toMatchObject({
      name: 'Helper',
      config: { 'type==agent/model': 'gpt-4o', 'type==agent/system_message': 'Be brief.' },
    })

    const updated = await client.beta.assistants.update(created.id, {
      name: 'Renamed',
      description: null,
      metadata: { team: 'red' },
      tools: [{ type: 'file_search' }],
    })
    expect(updated).toEqual({
      ...created,
      name: 'Renamed',
      description: null,
      metadata: { team: 'red' },
      tools: [{ type: 'file_search' }],
    })

    const deleted = await client.beta.assistants.delete(created.id)
    expect(deleted).toMatchObject({ id: created.id, object: 'assistant.deleted', deleted: true })
    const { receipt_id: receiptId } = deleted as unknown as { receipt_id: string }
    expect(await owner.get(`/receipts/${receiptId}`)).toMatchObject({ status: 'complete', subject_id: created.id })
    expect(await refusalOf(client.beta.assistants.retrieve(created.id))).toBeInstanceOf(OpenAI.NotFoundError)
  })

  it('keep what only the native API knows', async () => {
    const { client, owner } = await v1Client(service)
    const search = { type: 'web_search' }
    const { assistant_id: id } = await owner.post('/assistants/', {
      name: 'Native',
      config: { 'type==agent/max_steps': 3, 'type==agent/tools': [search], own: { a: 1 } },
    })
    expect(await client.beta.assistants.retrieve(String(id))).toMatchObject({ name: 'Native', tools: [] })
    await client.beta.assistants.update(String(id), { instructions: 'New', tools: [weather] })
    expect((await owner.get(`/assistants/${String(id)}`)).config).toEqual({
      'type==agent/max_steps': 3,
      'type==agent/system_message': 'New',
      'type==agent/tools': [
        search,
        {
          type: 'client',
          name: 'get_weather',
          config: {
            description: 'The weather of a city',
            parameters: weather.function.parameters,
            strict: true,
          },
        },
      ],
      own: { a: 1 },
    })
    const view = await owner.get(`/runs/debug/assistant/${String(id)}`)
    expect(view.tools).toContainEqual(expect.objectContaining({ type: 'client', name: 'get_weather' }))
  })

  it('are paged in both directions', async () => {
    const { client, owner } = await v1Client(service)
    const ids: string[] = []
    for (const name of ['one', 'two', 'three', 'four'])
      ids.push((await client.beta.assistants.create({ model: 'm', name })).id)
    const [one = '', two = '', three = '', four = ''] = ids
    const list = async (query: OpenAI.Beta.AssistantListParams) => {
      const page = await client.beta.assistants.list(query)
      return [page.data.map(({ id }) => id), page.has_more]
    }
    expect(await list({})).toEqual([[four, three, two, one], false])
    expect(await list({ order: 'asc', limit: 2 })).toEqual([[one, two], true])
    expect(await list({ order: 'asc', limit: 2, after: two })).toEqual([[three, four], false])
    expect(await list({ order: 'desc', after: three })).toEqual([[two, one], false])
    expect(await list({ order: 'asc', before: four, limit: 2 })).toEqual([[two, three], true])
    expect((await Array.fromAsync(client.beta.assistants.list({ limit: 1 }))).map(({ id }) => id)).toEqual(
      ids.toReversed(),
    )
    const page = await owner.get('/v1/assistants?limit=2')
    expect(page).toMatchObject({ object: 'list', first_id: four, last_id: three, has_more: true })
    expect((await refusalOf(client.beta.assistants.list({ after: 'unknown' }))).status).toBe(404)
    expect((await refusalOf(client.beta.assistants.list({ limit: 101 }))).param).toBe('limit')
  })

  it('refuse what would be ignored, by its name', async () => {
    const { client } = await v1Client(service)
    const refused = async (body: object) => {
      const error = await refusalOf(
        client.beta.assistants.create({ model: 'm', ...body } as OpenAI.Beta.AssistantCreateParams),
      )
      return [error.status, error.param, error.code]
    }
    expect((await refused({ tool_resources: { code_interpreter: { file_ids: ['f'] } } }))[0]).toBe(404)
    expect((await refused({ top_p: 1.5 })).slice(0, 2)).toEqual([400, 'top_p'])
    expect((await refused({ response_format: { type: 'json_schema' } })).slice(0, 2)).toEqual([
      400,
      'response_format.json_schema',
    ])
    expect((await refused({ reasoning_effort: 'most' })).slice(0, 2)).toEqual([400, 'reasoning_effort'])
    expect(await refused({ file_ids: [] })).toEqual([400, 'file_ids', 'unknown_parameter'])
    expect(await refused({ tools: [{ type: 'function' }] })).toEqual([
      400,
      'tools[0].function',
      'missing_required_parameter',
    ])
    expect((await refused({ metadata: { key: 'x'.repeat(513) } }))[0]).toBe(400)
    expect((await refused({ metadata: { ['k'.repeat(65)]: 'x' } }))[0]).toBe(400)
    expect(
      (await refused({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'x'])) }))[0],
    ).toBe(400)
  })

  it('give their settings to their runs', async () => {
    const { client, owner } = await v1Client(service)
    const format = {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object', properties: { a: { type: 'number' } } }, strict: true },
    } as const
    const created = await client.beta.assistants.create({
      model: 'm',
      top_p: 0.25,
      reasoning_effort: 'low',
      response_format: format,
    })
    expect(created).toMatchObject({ top_p: 0.25, reasoning_effort: 'low', response_format: format })
    const { thread_id: threadId } = await owner.post('/threads/', {})
    const run = async () => {
      service.model.reply({ text: '{}' })
      const { run_id: runId } = await owner.post('/runs', {
        thread_id: threadId,
        assistant_id: created.id,
        input: [{ type: 'human', content: 'hi' }],
      })
      await eventually('the run', async () => (await owner.get(`/runs/${String(runId)}`)).status === 'success')
      return service.model.requests.at(-1)?.body
    }
    expect(await run()).toMatchObject({ top_p: 0.25, reasoning_effort: 'low', response_format: format })
    const cleared = await client.beta.assistants.update(created.id, {
      top_p: null,
      reasoning_effort: null,
      response_format: 'auto',
    })
    expect(cleared).toMatchObject({ top_p: null, response_format: 'auto' })
    expect(Object.keys((await run()) ?? {}).filter((name) => /^(top_p|reasoning|response)/.test(name))).toEqual([])
  })

  it('belong to one project', async () => {
    const { client, owner } = await v1Client(service)
    const { project_id: other } = await owner.post('/projects/', { name: 'Other' })
    const { jwt_token: token } = await owner.get(`/projects/${String(other)}`)
    const second = clientWith(service, String(token))
    const { id } = await second.beta.assistants.create({ model: 'm' })
    expect((await client.beta.assistants.list()).data.map((one) => one.id)).not.toContain(id)
    for (const request of [
      () => client.beta.assistants.retrieve(id),
      () => client.beta.assistants.update(id, { name: 'x' }),
      () => client.beta.assistants.delete(id),
    ])
      expect((await refusalOf(request())).status).toBe(404)
    expect((await second.beta.assistants.retrieve(id)).name).toBe('Assistant')
  })
})
