import { createHash } from 'node:crypto'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { eventComponents } from './events.ts'
import { componentExamples } from './examples.ts'
import { describeOperation } from './operation.ts'
import { installReadingPages } from './reading-pages.ts'
import { apiDescription, parameterTexts, tagTexts } from './texts.ts'

interface Addresses {
  baseUrl: string
  stagingUrl: string
}

/** Serves `/openapi.json`, made from the schemas of the routes, `/docs` to try it out and `/redoc` to read it. */
export async function installOpenApi(app: FastifyInstance, { baseUrl, stagingUrl }: Addresses): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Assistant Platform',
        version: '1.0.0',
        description: apiDescription,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [
        { url: baseUrl, description: 'Production' },
        { url: stagingUrl, description: 'Staging' },
        { url: 'http://127.0.0.1:8100', description: 'Local development' },
      ],
      tags: Object.entries(tagTexts).map(([name, text]) => ({ name, description: text })),
      components: {
        securitySchemes: {
          userToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          publicToken: { type: 'http', scheme: 'bearer' },
          publicTokenHeader: { type: 'apiKey', in: 'header', name: 'X-Public-Bot-Token' },
          codecToken: { type: 'http', scheme: 'bearer' },
          adminToken: { type: 'http', scheme: 'bearer' },
          adminTokenHeader: { type: 'apiKey', in: 'header', name: 'X-Admin-Token' },
          adminTokenQuery: { type: 'apiKey', in: 'query', name: 'admin_token' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({ url, schema: describeOperation(schema, route) }),
    transformObject: (document) =>
      'openapiObject' in document ? nameComponents(document.openapiObject, eventComponents) : document.swaggerObject,
  })
  serveDocument(app)
  await installReadingPages(app)
}

/**
 * Made at the first request: it takes as long as a third of a start, and few processes are asked. It names the addresses
 * in the settings, so it is not a part of the bundle.
 */
function serveDocument(app: FastifyInstance): void {
  let made: { body: Buffer; etag: string } | undefined
  const make = () => {
    const body = Buffer.from(JSON.stringify(app.swagger()))
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
  }
  const config = { isStaticPage: true, limits: ['anonymous_client'] } as const
  app.get('/openapi.json', { config, schema: { hide: true } }, (request, reply) => {
    made ??= make()
    reply.header('etag', made.etag).header('cache-control', 'no-cache')
    if (hasCopy(request.headers['if-none-match'], made.etag)) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(made.body)
  })
}

/** Whether a client that sends this header has the newest version; proxies mark a version as weak. */
function hasCopy(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((version) => version.trim().replace(/^W\//, '') === etag) ?? false
}

type Document = { components?: { schemas?: Record<string, unknown> } }

/**
 * Moves every schema with a `title` into `components.schemas` under that name, with what its `about` says as the
 * description, and leaves a `$ref`, so that readers and generators see named types. `extra` are components that no
 * route refers to by itself. Throws if two different schemas have the same title.
 */
function nameComponents<T extends object>(document: T, extra: Record<string, unknown> = {}): T {
  const components = new Map<string, { schema: object; json: string; about: unknown }>()
  const hoist = (value: unknown, key: string, isExtra = false): unknown => {
    if (Array.isArray(value)) return value.map((entry) => hoist(entry, '', isExtra))
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, hoist(entry, name, isExtra)]))
    const title: unknown = copy['title']
    if (key === '' && isParameter(copy)) return { description: parameterTexts[copy.name], ...copy }
    if (typeof title !== 'string' || key === 'info' || key === 'properties') return copy
    // The description stays at the place of use, because one component may be described differently in many places.
    const { description, about, ...schema } = copy
    const json = JSON.stringify(schema)
    const known = components.get(title) ?? { schema, json, about }
    // The schemas of routes come through the OpenAPI plugin, which writes some keywords differently.
    if (!isExtra && known.json !== json) throw new Error(`two schemas are called ${title}`)
    components.set(title, { ...known, about: known.about ?? about })
    const reference = { $ref: `#/components/schemas/${title}` }
    return key === '' || description === undefined ? reference : { ...reference, description }
  }
  const paths = Object.fromEntries(
    Object.entries(document).map(([name, entry]) => [name, name === 'paths' ? hoist(entry, name) : entry]),
  )
  hoist(Object.values(extra), '', true)
  const existing = (document as Document).components
  const named = Object.fromEntries(
    [...components].map(([title, { schema, about }]) => [title, described(title, schema, about)]),
  )
  return { ...document, ...paths, components: { ...existing, schemas: { ...existing?.schemas, ...named } } }
}

/** An entry of an operation's `parameters`. */
function isParameter(value: object): value is { name: string } {
  return 'in' in value && 'name' in value && typeof value.name === 'string'
}

function described(title: string, schema: object, description: unknown): object {
  const example = componentExamples[title]
  const named = defaultsInWords({ ...schema, ...(description ? { description } : {}) })
  return { ...named, ...(example ? { examples: [example] } : {}) }
}

/**
 * States the defaults of members in their descriptions. One schema describes requests and answers; from the keyword
 * `default` generators conclude that an answer always has the member, and demand it in requests too.
 */
function defaultsInWords(schema: object): object {
  const { default: value, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, entry]: [string, unknown]) => [
      key,
      key === 'const' ? entry : inside(key, entry),
    ]),
  )
  if (value === undefined) return rest
  const { description } = rest
  const before = typeof description === 'string' ? `${description} ` : ''
  return { ...rest, description: `${before}Default: \`${JSON.stringify(value)}\`.` }
}

function inside(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => inside('', entry))
  if (typeof value !== 'object' || value === null) return value
  if (key !== 'properties') return defaultsInWords(value)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside('', member)]))
}
