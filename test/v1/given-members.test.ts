import { describe, expect, it } from 'vitest'
import { prepareGiven } from '../../api/plugins/given-members.ts'
import { V1AssistantCreateRequest } from '../../api/routes/v1/assistant-schemas.ts'
import { V1ChatRequest } from '../../api/routes/v1/chat-schemas.ts'
import { ResponseCreateRequest } from '../../api/routes/v1/responses/request-schemas.ts'
import { V1RunCreateRequest } from '../../api/routes/v1/run-schemas.ts'
import { V1ThreadCreateRequest } from '../../api/routes/v1/thread-schemas.ts'
import { BatchCreateRequest, StoreCreateRequest, StoreSearchRequest } from '../../api/routes/v1/vector-store-schemas.ts'
import { withoutEffect } from '../../api/routes/v1/without-effect.ts'

const prepared = (schema: object, body: object) => {
  const problem = prepareGiven(schema, body, withoutEffect)
  return { problem, body }
}

describe('the members of a request', () => {
  it.each([
    ['a vector store', StoreCreateRequest, { chunking_strategy: null, file_ids: null, description: null }],
    ['a search', StoreSearchRequest, { filters: null, ranking_options: null, max_num_results: null }],
    ['files of a store', BatchCreateRequest, { files: null, chunking_strategy: null }],
    ['a run', V1RunCreateRequest, { parallel_tool_calls: null, reasoning_effort: null }],
    ['an assistant', V1AssistantCreateRequest, { description: null, unknown: null }],
  ])('that are null are absent: %s', (_what, schema, nulls) => {
    const nullable = Object.keys(nulls).filter((name) =>
      JSON.stringify(schema.properties).includes(`"${name}":{"anyOf"`),
    )
    const { problem, body } = prepared(schema, { ...nulls })
    expect(problem).toBeUndefined()
    // Null stays where the schema takes it, and means the same.
    expect(Object.keys(body).filter((name) => !nullable.includes(name))).toEqual([])
  })

  it('that are null are absent in every object of the schema, and stay in what is free-form', () => {
    const tool = { type: 'function', function: { name: 'f', description: null, parameters: { default: null } } }
    const filter = { type: 'and', key: null, filters: [{ type: 'eq', key: 'a', value: 1, filters: null }] }
    expect(prepared(V1RunCreateRequest, { assistant_id: 'a', tools: [{ ...tool, file_search: null }] }).body).toEqual({
      assistant_id: 'a',
      tools: [{ type: 'function', function: { name: 'f', parameters: { default: null } } }],
    })
    expect(prepared(StoreSearchRequest, { query: 'x', filters: filter }).body).toEqual({
      query: 'x',
      filters: { type: 'and', filters: [{ type: 'eq', key: 'a', value: 1 }] },
    })
  })

  it('without effect are taken, each from a list that names no member with an effect', () => {
    const body = { model: 'm', input: 'x', client_metadata: { a: 'b' }, prompt_cache_options: { mode: 'explicit' } }
    const tools = [{ type: 'function', name: 'f', defer_loading: true, allowed_callers: ['direct'] }]
    expect(prepared(ResponseCreateRequest, { ...body, tools }).body).toEqual({
      model: 'm',
      input: 'x',
      tools: [{ type: 'function', name: 'f' }],
    })
    expect(prepared(ResponseCreateRequest, { model: 'm', color: 'red' }).body).toHaveProperty('color')
    const effects = (title: string) => Object.keys(withoutEffect[title] ?? {})
    for (const name of effects('V1ResponseCreateRequest'))
      expect(Object.keys(ResponseCreateRequest.properties)).not.toContain(name)
    for (const name of effects('V1ChatCompletionRequest'))
      expect(Object.keys(V1ChatRequest.properties)).not.toContain(name)
  })

  it('of an object whose kind is not known are not looked at: the kind is refused', () => {
    const unsupported = (place: (string | number)[], kind: string) => ({
      loc: ['body', ...place, 'type'],
      msg: `${kind} is not available here`,
      type: 'unsupported',
    })
    const run = { assistant_id: 'a', color: 1, tools: [{ type: 'browser', depth: 3 }] }
    expect(prepared(V1RunCreateRequest, run).problem).toEqual(unsupported(['tools', 0], 'browser'))
    const content = [
      { type: 'text', text: 'x' },
      { type: 'video', url: 'x' },
    ]
    expect(prepared(V1ThreadCreateRequest, { messages: [{ role: 'user', content }] }).problem).toEqual(
      unsupported(['messages', 0, 'content', 1], 'video'),
    )
    expect(prepared(StoreCreateRequest, { chunking_strategy: { type: 'contextual', x: 1 } }).problem).toEqual(
      unsupported(['chunking_strategy'], 'contextual'),
    )
  })
})
