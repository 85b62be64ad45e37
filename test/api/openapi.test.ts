import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type MockInstance, afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { componentExamples } from '../../api/openapi/examples.ts'
import { parameterTexts, tagTexts } from '../../api/openapi/texts.ts'
import { type Generators, apiGenerators } from '../support/api-generators.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { type TestService, startService } from '../support/service.ts'

describe('the API description', () => {
  let service: TestService
  let folder: string
  let file: string
  let document: any
  let operations: { name: string; operation: any }[]
  let makeDocument: MockInstance<TestService['api']['app']['swagger']>
  let madeForFirst: number
  beforeAll(async () => {
    service = await startService({ worker: false })
    makeDocument = vi.spyOn(service.api.app, 'swagger')
    document = await (await fetch(`${service.url}/openapi.json`)).json()
    // Counts are cleared before each test.
    madeForFirst = makeDocument.mock.calls.length
    operations = Object.entries<any>(document.paths).flatMap(([url, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${url}`, operation })),
    )
    folder = await mkdtemp(path.join(tmpdir(), 'assistant-openapi-'))
    file = path.join(folder, 'openapi.json')
    await writeFile(file, JSON.stringify(document))
  })
  afterAll(async () => {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** The events of an operation that streams: the schemas of the name and of the data. */
  function eventsOf(operation: any): { event: any; data: any }[] {
    const stream = operation.responses[200]?.content?.['text/event-stream']?.['x-itemSchema']
    return stream ? document.components.schemas[nameOf(stream)].anyOf.map(({ properties }: any) => properties) : []
  }

  it('describes every component, parameter and tag, and nothing else', () => {
    const components = Object.entries<any>(document.components.schemas)
    expect(components.length).toBeGreaterThan(100)
    expect(components.filter(([, { description }]) => !description).map(([name]) => name)).toEqual([])
    // It describes a component; elsewhere it would be an unknown keyword.
    expect(JSON.stringify(document)).not.toContain('"about":"')

    const parameters = operations.flatMap(({ operation }) => operation.parameters ?? [])
    expect(parameters.filter((parameter: any) => !parameter.description)).toEqual([])
    const used = new Set(parameters.map((parameter: any) => parameter.name))
    expect(Object.keys(parameterTexts).filter((name) => !used.has(name))).toEqual([])

    const tags = new Set(operations.flatMap(({ operation }) => operation.tags))
    expect(tags).toEqual(new Set(Object.keys(tagTexts)))
    expect(document.tags.map((tag: any) => tag.name)).toEqual(Object.keys(tagTexts))
  })

  it('requires no parameter that has a default', () => {
    const wrong = operations.flatMap(({ name, operation }) =>
      (operation.parameters ?? [])
        .filter((parameter: any) => parameter.required && 'default' in parameter.schema)
        .map((parameter: any) => `${name} ${parameter.name}`),
    )
    expect(wrong).toEqual([])
  })

  it('lists the refusals of every operation, and only those that it can answer', () => {
    for (const { name, operation } of operations) {
      const statuses = Object.keys(operation.responses)
      expect.soft(statuses.length, name).toBeGreaterThan(0)
      if (name.startsWith('options ')) continue
      expect.soft(statuses, name).toContain('500')
      // The admin token of the query is shown as a security scheme.
      const hasQueryToken = name.includes('/admin/')
      const hasInput = operation.requestBody !== undefined || operation.parameters !== undefined || hasQueryToken
      // As in the interface that `/v1` speaks.
      const isV1 = operation.tags.includes('v1')
      expect.soft(statuses.includes('422'), `${name} 422`).toBe(hasInput && !isV1)
      expect.soft(statuses.includes('400') || !(hasInput && isV1), `${name} 400`).toBe(true)
      expect.soft(statuses.includes('415'), `${name} 415`).toBe(operation.requestBody !== undefined)
      const needsToken = (operation.security ?? []).some((entry: object) => 'userToken' in entry)
      expect.soft(statuses.includes('401') || !needsToken, `${name} 401`).toBe(true)
    }
  })

  it('shows an example of every request body and of the data of every event', () => {
    const bodies = operations.flatMap(({ operation }) =>
      Object.values<any>(operation.requestBody?.content ?? {}).map(({ schema }) => nameOf(schema)),
    )
    const events = operations.flatMap(({ operation }) => eventsOf(operation).map(({ data }: any) => nameOf(data)))
    expect(bodies.length).toBeGreaterThan(30)
    expect(events.length).toBeGreaterThan(30)
    const own = new Set([...bodies, ...events].filter((name) => !shownElsewhere.includes(name)))
    expect([...own].filter((name) => componentExamples[name] === undefined)).toEqual([])
    expect(Object.keys(componentExamples).filter((name) => !own.has(name))).toEqual([])
  })

  it('links the events of every operation that streams', () => {
    const streaming = operations.filter(
      ({ operation }) => 'text/event-stream' in (operation.responses[200]?.content ?? {}),
    )
    expect(streaming.length).toBeGreaterThan(8)
    for (const { name, operation } of streaming) {
      const events = eventsOf(operation)
      expect(events.length, name).toBeGreaterThan(1)
      for (const { event, data } of events) {
        expect(event.const, name).toMatch(/^[a-z_.]+$/)
        expect(document.components.schemas).toHaveProperty([nameOf(data)])
      }
    }
  })

  it('states defaults of members in words, because generators demand members that have the keyword', () => {
    const bodies = operations.flatMap(({ operation }) => [operation.requestBody, operation.responses])
    expect(JSON.stringify([bodies, document.components.schemas])).not.toContain('"default":')
    const { properties } = document.components.schemas.AssistantConfig
    expect(properties['type==agent/max_steps'].description).toMatch(/Default: `25`\.$/)
    expect(document.components.schemas.AccessMode.description).toContain('Default: `"authenticated"`.')
  })

  it('names the three servers, and allows further members in a configuration', () => {
    expect(document.servers).toHaveLength(3)
    expect(document.servers.at(-1).url).toBe('http://127.0.0.1:8100')
    expect(document.components.schemas.AssistantConfig.additionalProperties).toBe(true)
  })

  it('is made once, at the first request, and not sent again to whoever has it', async () => {
    const get = (headers: Record<string, string> = {}) => fetch(`${service.url}/openapi.json`, { headers })
    const first = await get()
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toBe('no-cache')
    for (const copy of [etag, `"other", W/${etag}`]) {
      const again = await get({ 'if-none-match': copy })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
    }
    for (const copy of ['"other"', '']) expect((await get({ 'if-none-match': copy })).status).toBe(200)
    expect(await first.text()).toBe(await (await get()).text())
    expect(madeForFirst).toBe(1)
    expect(makeDocument).not.toHaveBeenCalled()
  })

  describe('for client generators', () => {
    let generators: Generators
    beforeAll(async () => {
      generators = await apiGenerators()
    }, installTimeoutMs)
    let made: Promise<string> | undefined
    /** Generated and compiled once for all tests. */
    const typescriptClient = async () => {
      const use = path.join(folder, 'use.ts')
      await writeFile(use, typescriptUse)
      made ??= generators.typescriptClient(file, folder, use)
      return made
    }

    it('generates a TypeScript client that compiles', { timeout: 240_000 }, async () => {
      expect(await typescriptClient()).not.toMatch(/warn/i)
    })

    it('matches the types in client/ (update them with npm run client:types)', { timeout: 240_000 }, async () => {
      await typescriptClient()
      const generated = await readFile(path.join(folder, 'api.d.ts'), 'utf8')
      if (process.env['UPDATE_CLIENT_TYPES']) await writeFile(clientTypes, generated)
      const isSame = (await readFile(clientTypes, 'utf8').catch(() => '')) === generated
      expect(isSame, 'client/src/schema.d.ts is what /openapi.json describes').toBe(true)
    })

    it('generates a Python client without a warning', async () => {
      expect(await generators.pythonClient(file, folder)).not.toMatch(/warning|unable|cannot/i)
    })

    it('passes the linter', async () => {
      expect(await generators.lint(file, folder)).not.toMatch(/^error/m)
    })
  })
})

const clientTypes = path.join(import.meta.dirname, '../../client/src/schema.d.ts')

/** Their data is what other operations answer. */
const shownElsewhere = [
  'CompatMessage',
  'CompatRun',
  'CompatRunStep',
  'CompatThread',
  'Ingestion',
  'V1Error',
  'V1Run',
  'V1RunStep',
]

/** What a client may write with the generated types: requests with few members, and events by their names. */
const typescriptUse = `import type { components, paths } from './api'
type Schemas = components['schemas']
export const created: paths['/assistants/']['post']['requestBody']['content']['application/json'] = {
  name: 'Guide',
  config: { 'my own/member': 1 },
  public: false,
}
export const steps: Schemas['AssistantConfig'] = { 'type==agent/max_steps': 3 }
export const search: Schemas['SearchFilesRequest'] = { query: 'opening hours' }
export function textOf(event: Schemas['RunStreamEvent']): string {
  switch (event.event) {
    case 'metadata':
      return event.data.run_id
    case 'data':
      return event.data.map((message) => message.data.content).join('')
    case 'error':
      return event.data.message
    default:
      return ''
  }
}
`

function nameOf(schema: any): string {
  return String(schema.$ref).split('/').at(-1) ?? ''
}
