import { createHash } from 'node:crypto'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { nameComponents } from './components.ts'
import { eventComponents } from './events.ts'
import { describeOperation } from './operation.ts'
import { installReadingPages } from './reading-pages.ts'
import { apiDescription, tagTexts } from './texts.ts'

interface Addresses {
  baseUrl: string
  stagingUrl: string
  /** Make the document when it is asked for. Tests start many services, few of which are asked. */
  whenAsked?: boolean
}

/** Serves `/openapi.json`, made from the schemas of the routes, `/docs` to try it out and `/redoc` to read it. */
export async function installOpenApi(
  app: FastifyInstance,
  { baseUrl, stagingUrl, whenAsked = false }: Addresses,
): Promise<void> {
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
  serveDocument(app, whenAsked)
  await installReadingPages(app)
}

/** Made once, when the server begins to listen: it takes as long as a tenth of a start, and anybody may ask for it. */
function serveDocument(app: FastifyInstance, whenAsked: boolean): void {
  let made: { body: Buffer; etag: string } | undefined
  const make = () => {
    const body = Buffer.from(JSON.stringify(app.swagger()))
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
  }
  app.addHook('onListen', (done) => {
    if (!whenAsked) made ??= make()
    done()
  })
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
