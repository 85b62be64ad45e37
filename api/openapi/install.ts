import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fastifyStatic from '@fastify/static'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { nameComponents } from './components.ts'
import { eventComponents } from './events.ts'
import { describeOperation } from './operation.ts'
import { apiDescription, tagTexts } from './texts.ts'

interface Addresses {
  baseUrl: string
  stagingUrl: string
}

/**
 * Serves `/openapi.json`, made from the schemas of the routes, `/docs` to try it out and `/redoc` to read it. The
 * pages load nothing from other addresses.
 */
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
      theme: { title: 'Assistant Platform', css: [{ filename: 'theme.css', content: '.topbar { display: none }' }] },
      uiConfig: { persistAuthorization: true, displayRequestDuration: true, validatorUrl: null },
      transformSpecification: withoutRepetitions,
    })
    await installRedoc(pages)
  })
}

/**
 * How the file server refuses invalid paths: 400 and 403 for paths outside the folder, a file system error for long
 * names.
 */
function isNoSuchFile(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode < 500
  return 'code' in error && error.code === 'ENAMETOOLONG'
}

/** What `/docs` leaves out: preflights and the aliases, which would fill half of the page. */
function withoutRepetitions(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const paths = Object.entries(Object(document['paths']) as Record<string, object>)
    .filter(([path]) => !path.startsWith('/public/v1/'))
    .map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).filter(([name]) => name !== 'options')),
    ])
  return { ...document, paths: Object.fromEntries(paths) }
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
