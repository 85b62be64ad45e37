import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { v1Client } from './v1-client.ts'

const root = path.resolve(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/moving-from-assistants.md'), 'utf8')

/** Each name in the list, with what the page says of it: one endpoint, or `…` for all below a path. */
const said = new Map(
  page
    .slice(page.indexOf('## Every endpoint'))
    .split('\n')
    .flatMap((line) => {
      const [, state = '', names = ''] = /^- (works|differs|refused): ((?:`[^`]+`(?:, )?)+)/.exec(line) ?? []
      return Array.from(names.matchAll(/`([^`]+)`/g), ([, name = '']) => [name, state] as const)
    }),
)

/** Every endpoint that the official client calls, as `GET /threads/{}`. */
function endpointsOfTheClient(): string[] {
  const sources = globSync('node_modules/openai/resources/**/*.mjs', { cwd: root }).map((file) =>
    readFileSync(path.join(root, file), 'utf8'),
  )
  const call =
    /this\._client\s*\.(get|post|delete|getAPIList)\(\s*(?:path\s*)?(['`])(\/.*?)\2(?:[^;]*?method: '(\w+)')?[^;]*;/g
  const found = sources.flatMap((text) =>
    Array.from(text.matchAll(call), ([, method = '', , where = '', listedBy]) => {
      const verb = method === 'getAPIList' ? (listedBy ?? 'get') : method
      return `${verb.toUpperCase()} ${where.replace(/\?.*/, '').replaceAll(/\$\{[^}]*\}/g, '{}')}`
    }),
  )
  return [...new Set(found)].toSorted()
}

/** By its own line, else by that of the longest path above it. */
function lineOf(endpoint: string): string | undefined {
  const where = endpoint.slice(endpoint.indexOf(' ') + 1)
  const above = [...said.keys()].filter((name) => name.endsWith('/…') && `${where}/`.startsWith(name.slice(0, -1)))
  return said.has(endpoint) ? endpoint : above.toSorted((a, b) => b.length - a.length)[0]
}

const stateOf = (endpoint: string) => said.get(lineOf(endpoint) ?? '')

describe('the list of every endpoint', () => {
  const service = useSharedService()
  const endpoints = endpointsOfTheClient()

  it('names all that the official client calls, and nothing else', () => {
    expect(endpoints.length).toBeGreaterThan(250)
    expect(endpoints.filter((endpoint) => stateOf(endpoint) === undefined)).toEqual([])
    expect([...new Set(said.values())].toSorted()).toEqual(['differs', 'refused', 'works'])
    const used = new Set([...endpoints, 'POST /embeddings'].map(lineOf))
    expect([...said.keys()].filter((name) => !used.has(name))).toEqual([])
  })

  it('says the same as the description of the API', async () => {
    const { paths } = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text())
    const described = Object.entries<object>(paths)
      .filter(([where]) => where.startsWith('/v1/'))
      .flatMap(([where, operations]) =>
        Object.keys(operations).map((verb) => `${verb.toUpperCase()} ${where.slice(3).replaceAll(/\{[^}]*\}/g, '{}')}`),
      )
    const offered = [...endpoints, 'POST /embeddings'].filter((endpoint) => stateOf(endpoint) !== 'refused')
    expect(described.toSorted()).toEqual([...new Set(offered)].toSorted())
  })

  it('is right about what is refused, with words and in the shape of the interface', async () => {
    const { client } = await v1Client(service)
    const refused = endpoints.filter((endpoint) => stateOf(endpoint) === 'refused')
    expect(refused.length).toBeGreaterThan(150)
    for (const endpoint of refused) {
      const [method = '', where = ''] = endpoint.replaceAll('{}', 'x').split(' ')
      const answer = await fetch(`${service.url}/v1${where}`, {
        method,
        headers: { authorization: `Bearer ${client.apiKey}`, 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: '{"model":"m"}' } : {}),
      })
      const { error } = JSON.parse(await answer.text())
      expect([endpoint, answer.status, error]).toEqual([
        endpoint,
        expect.toBeOneOf([404, 405]),
        {
          message: expect.stringContaining(`${method} /v1${where} is not offered here`),
          type: 'invalid_request_error',
          param: null,
          code: answer.status === 404 ? 'not_found' : 'method_not_allowed',
        },
      ])
    }
  })
})
