import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { answerMissingFiles } from '../plugins/missing-files.ts'

/** Nothing is loaded from other addresses, and requests go to this service only. */
const policy = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** `/docs` and `/redoc`: two views of `/openapi.json`. */
export async function installReadingPages(app: FastifyInstance): Promise<void> {
  await app.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { ...route.config, isStaticPage: true }
      route.schema = { hide: true }
    })
    answerMissingFiles(pages)
    serve(pages, '/docs', 'text/html', docsPage, policy)
    serve(pages, '/docs/theme.js', 'text/javascript', themeScript)
    serve(pages, '/docs/start.js', 'text/javascript', docsScript)
    await serveFiles(pages, '/docs/static/', '@fastify/swagger-ui/static/swagger-ui-bundle.js', [
      'swagger-ui-bundle.js',
      'swagger-ui.css',
    ])
    serve(pages, '/redoc', 'text/html', redocPage, `${policy}; style-src 'self' 'unsafe-inline'; worker-src blob:`)
    await serveFiles(pages, '/redoc/', 'redoc/bundles/redoc.standalone.js', ['redoc.standalone.js'])
  })
}

function serve(app: FastifyInstance, url: string, type: string, text: string, contentPolicy?: string): void {
  app.get(url, (_request, reply) => {
    if (contentPolicy !== undefined) reply.header('content-security-policy', contentPolicy)
    return reply.type(`${type}; charset=utf-8`).send(text)
  })
}

/** The named files beside `entry`, a file of a package. */
async function serveFiles(app: FastifyInstance, prefix: string, entry: string, names: string[]): Promise<void> {
  await app.register(fastifyStatic, {
    root: dirname(createRequire(import.meta.url).resolve(entry)),
    prefix,
    decorateReply: false,
    index: false,
    allowedPath: (path) => names.includes(path.replace(/^\//, '')),
  })
}

const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Assistant Platform</title>
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" type="image/svg+xml" href="/icon.svg" />
    <link rel="stylesheet" href="/docs/static/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/look.css" />
    <link rel="stylesheet" href="/brand.css" />
    <script src="/docs/theme.js"></script>
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/static/swagger-ui-bundle.js"></script>
    <script type="module" src="/docs/start.js"></script>
  </body>
</html>
`

/** The theme that was chosen in the console, before anything is drawn. */
const themeScript = `const chosen = localStorage.getItem('assistant-platform.theme')
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const applyTheme = () => {
  const isDark = chosen === 'dark' || (chosen !== 'light' && prefersDark.matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}
applyTheme()
prefersDark.addEventListener('change', applyTheme)
`

/**
 * Leaves out preflights. Tokens last as long as the page is open; those that versions before kept in the browser are
 * removed.
 */
const docsScript = `localStorage.removeItem('authorized')
const spec = await (await fetch('/openapi.json')).json()
for (const operations of Object.values(spec.paths)) delete operations.options
const { SwaggerUIBundle } = window
SwaggerUIBundle({
  spec,
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
  // Its colours stand in the elements, where no style sheet of ours changes them.
  syntaxHighlight: false,
})
`

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
