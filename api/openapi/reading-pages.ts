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
    serve(pages, '/docs/start.js', 'text/javascript', docsScript)
    await serveFiles(pages, '/docs/static/', '@fastify/swagger-ui/static/swagger-ui-bundle.js', [
      'swagger-ui-bundle.js',
      'swagger-ui.css',
    ])
    serve(pages, '/redoc', 'text/html', redocPage, `${policy}; style-src 'self' 'unsafe-inline'; worker-src blob:`)
    serve(pages, '/redoc/start.js', 'text/javascript', redocScript)
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
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" type="image/svg+xml" href="/icon.svg" />
    <link rel="stylesheet" href="/docs/look.css" />
    <link rel="stylesheet" href="/brand.css" />
    <script src="/docs/theme.js"></script>
  </head>
  <body>
    <div id="redoc"></div>
    <script src="/redoc/redoc.standalone.js"></script>
    <script type="module" src="/redoc/start.js"></script>
  </body>
</html>
`

/** Redoc mixes its colours itself: it takes no variables, but what they are worth in the theme of the page. */
const redocScript = `const values = getComputedStyle(document.documentElement)
const value = (name) => values.getPropertyValue('--' + name).trim()
const [bg, surface, soft, border, text, muted] = ['bg', 'sidebar', 'surface-2', 'border', 'text', 'muted'].map(value)
const [accentText, ok, warn, danger] = ['accent-text', 'ok', 'warn', 'danger'].map(value)
const tone = (main) => ({ main, light: main, dark: main, contrastText: bg })
// Tabs lie on the right side, which is dark in both themes.
const answer = (name, ground, tabTextColor) => ({ color: value(name), backgroundColor: value(ground), tabTextColor })
const fontFamily = value('font')
const colors = {
  primary: tone(accentText),
  success: tone(ok),
  warning: tone(warn),
  error: tone(danger),
  gray: { 50: soft, 100: border },
  border: { light: border, dark: border },
  text: { primary: text, secondary: muted },
  responses: {
    success: answer('ok', 'ok-soft', '#7fd0a1'),
    error: answer('danger', 'danger-soft', '#f2918a'),
    redirect: answer('warn', 'warn-soft', '#e9bd66'),
    info: answer('accent-text', 'accent-soft', '#a9b8fb'),
  },
  // White letters lie on these.
  http: {
    get: '#3f5bd9',
    post: '#1d6f42',
    put: '#8a5a00',
    patch: '#8a5a00',
    delete: '#b3261e',
    options: '#5c6059',
    head: '#5c6059',
    basic: '#5c6059',
    link: '#5c6059',
  },
}
const theme = {
  colors,
  schema: {
    linesColor: border,
    typeNameColor: muted,
    typeTitleColor: muted,
    requireLabelColor: danger,
    nestedBackground: soft,
    arrow: { color: muted },
  },
  typography: {
    fontSize: '15px',
    lineHeight: '1.55',
    fontFamily,
    headings: { fontFamily, fontWeight: '600' },
    code: { fontFamily: value('mono'), color: text, backgroundColor: soft },
    links: { color: accentText, visited: accentText, hover: accentText },
  },
  sidebar: {
    backgroundColor: surface,
    textColor: text,
    activeTextColor: accentText,
    groupItems: { activeBackgroundColor: value('hover'), activeTextColor: accentText },
    level1Items: { activeBackgroundColor: value('hover'), activeTextColor: accentText },
    arrow: { color: muted },
  },
  // The colours of examples are light, whatever is set here.
  rightPanel: {
    backgroundColor: '#111310',
    textColor: '#e9ebe6',
    servers: { overlay: { backgroundColor: soft, textColor: text }, url: { backgroundColor: bg } },
  },
  codeBlock: { backgroundColor: '#1d201c' },
  fab: { backgroundColor: soft, color: accentText },
}
Redoc.init('/openapi.json', { theme }, document.querySelector('#redoc'))
// Colours are set once.
new MutationObserver(() => location.reload()).observe(document.documentElement, { attributeFilter: ['data-theme'] })
`
