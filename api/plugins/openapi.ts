import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fastifyStatic from '@fastify/static'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { nameComponents } from './openapi-components.ts'

const description = `A durable backend for AI assistants: accounts, projects, assistants with files that they can quote,
conversation threads, and runs that are streamed as server-sent events.`

/** `/openapi.json` from the routes' own schemas, `/docs` to try it out and `/redoc` to read it; nothing is fetched from elsewhere. */
export async function installOpenApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Assistant Platform', version: '1.0.0', description },
      servers: [{ url: baseUrl }],
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
    transform: ({ schema, url, route }) => ({ url, schema: { ...schema, security: securityOf(route.config?.auth) } }),
    transformObject: (document) =>
      'openapiObject' in document ? nameComponents(document.openapiObject) : document.swaggerObject,
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  await app.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { ...route.config, isStaticPage: true }
    })
    pages.setErrorHandler((error, _request, reply) => {
      if (!isNoSuchFile(error)) throw error
      reply.callNotFound()
    })
    await pages.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      theme: { title: 'Assistant Platform' },
      uiConfig: { persistAuthorization: true, displayRequestDuration: true, validatorUrl: null },
    })
    await installRedoc(pages)
  })
}

/** How the file server refuses odd paths: 400 and 403 for what leaves the folder, an error of the file system for long names. */
function isNoSuchFile(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode < 500
  return 'code' in error && error.code === 'ENAMETOOLONG'
}

function securityOf(auth: string | undefined): Record<string, string[]>[] {
  switch (auth) {
    case 'user':
    case 'project':
    case 'token':
      return [{ userToken: [] }]
    case 'optional-user':
      return [{}, { userToken: [] }]
    case 'public':
      return [{}, { publicToken: [] }, { publicTokenHeader: [] }]
    case 'codec':
      return [{}, { codecToken: [] }]
    case 'admin':
      return [{ adminToken: [] }, { adminTokenHeader: [] }, { adminTokenQuery: [] }]
    default:
      return []
  }
}

async function installRedoc(app: FastifyInstance): Promise<void> {
  const bundle = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
  await app.register(fastifyStatic, {
    root: dirname(bundle),
    prefix: '/redoc/',
    decorateReply: false,
    index: false,
    allowedPath: (path) => join('/', path) === '/redoc.standalone.js',
  })
  app.get('/redoc', { schema: { hide: true } }, (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'; worker-src blob:",
      )
      .send(redocPage),
  )
}

const redocPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Assistant Platform</title>
    <style>body { margin: 0 }</style>
  </head>
  <body>
    <redoc spec-url="/openapi.json" disable-search="false"></redoc>
    <script src="/redoc/redoc.standalone.js"></script>
  </body>
</html>
`
