import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type BrandSettings, readBrand } from './brand.ts'
import { documentPreviewPage, documentPreviewPolicy } from './document-preview.ts'
import { answerMissingFiles } from './missing-files.ts'

export interface ConsoleSettings extends BrandSettings {
  /** A local mail receiver, for a link in the console. */
  mailboxUrl?: string | undefined
  /** Whether the page of the person at this machine may ask for the operator's right (`api/routes/local`). */
  localPage?: boolean
  temporalUiUrl?: string | undefined
  temporalNamespace: string
  loginProviders?: readonly { id: string }[]
  stripeSecretKey?: string | undefined
  stripeWebhookSecret?: string | undefined
  transcriptionBaseUrl?: string | undefined
  speechBaseUrl?: string | undefined
  /** Whether a model is set that names chats and suggests questions. */
  suggests?: () => boolean
}

/** The folder into which `web/build.ts` builds the console. */
const builtFiles = join(import.meta.dirname, '../../web/dist')

/**
 * The addresses of the console's pages. Each is answered with the same file, and the page's router shows the right
 * view.
 */
const pages = [
  '/',
  '/login',
  '/signup',
  '/verify',
  '/forgot-password',
  '/reset-password',
  '/auth-callback',
  '/invitations',
  '/usage',
  '/console',
  '/console/*',
]

/** Only the console's own scripts and styles, requests only to this service, no framing. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The frame in which diagrams of answers are drawn: an origin of its own, no requests but for its script. */
const diagramPolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'self'"
/** The page inside the console that shows the chat bubble as it will be. */
const previewPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** What the worker that reads PDFs may do: load its own code. It is told everything by the page. */
const workerPolicy = "default-src 'none'; script-src 'self'"

/** Serves the console as static files. */
export async function installConsole(app: FastifyInstance, settings: ConsoleSettings): Promise<void> {
  const brand = readBrand(settings)
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { isStaticPage: true, ...route.config }
      route.schema = { hide: true, ...route.schema }
    })
    answerMissingFiles(scope)
    scope.get('/console-settings.json', (_request, reply) =>
      reply.header('cache-control', 'no-store').send(shownSettings(settings, brand)),
    )
    scope.get('/brand.css', (_request, reply) =>
      reply.type('text/css; charset=utf-8').header('cache-control', 'no-cache').send(brand.styles),
    )
    if (!existsSync(join(builtFiles, 'index.html'))) {
      for (const url of pages) scope.get(url, (_request, reply) => sendNotBuilt(reply))
      return
    }
    await scope.register(fastifyStatic, {
      root: join(builtFiles, 'console-assets'),
      prefix: '/console-assets/',
      index: false,
      preCompressed: true,
      immutable: true,
      maxAge: '365d',
      setHeaders: (reply) =>
        void reply
          .header('content-security-policy', workerPolicy)
          // The frame of diagrams has an origin of its own; scripts as modules are requested across origins from it.
          .header('access-control-allow-origin', '*'),
    })
    scope.get('/embed.js', (_request, reply) => sendFile(reply, 'embed.js'))
    scope.get('/typeface.css', (_request, reply) => sendFile(reply, 'typeface.css'))
    scope.get('/docs/look.css', (_request, reply) => sendFile(reply, 'docs.css'))
    scope.get('/docs/theme.js', (_request, reply) => sendFile(reply, 'docs-theme.js'))
    const sendIcon = (name: string) => (_request: unknown, reply: FastifyReply) => {
      if (brand.logo === undefined) return sendFile(reply, name)
      return withPolicy(reply, "default-src 'none'; style-src 'unsafe-inline'")
        .type(brand.logo.type)
        .header('cache-control', 'no-cache')
        .send(brand.logo.bytes)
    }
    scope.get('/icon.svg', sendIcon('icon.svg'))
    // Without transparent corners: phones cut them themselves.
    scope.get('/touch-icon', sendIcon('touch-icon.png'))
    scope.get('/manifest.webmanifest', (_request, reply) =>
      reply.type('application/manifest+json').header('cache-control', 'no-cache').send(brand.manifest),
    )
    const sendPage = async (reply: FastifyReply, name: string, policy?: string) =>
      withPolicy(reply, policy)
        .type('text/html; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(brand.page(await readFile(join(builtFiles, name), 'utf8')))
    for (const url of pages) scope.get(url, (_request, reply) => sendPage(reply, 'index.html'))
    scope.get('/diagram', (_request, reply) => sendPage(reply, 'diagram/index.html', diagramPolicy))
    scope.get('/document-preview', (_request, reply) =>
      withPolicy(reply, documentPreviewPolicy)
        .type('text/html; charset=utf-8')
        .header('cache-control', 'no-cache')
        .header('x-dns-prefetch-control', 'off')
        .send(documentPreviewPage),
    )
    scope.get('/embed-preview', (_request, reply) => sendPage(reply, 'preview/index.html', previewPolicy))
    // Nobody finds a shared chat without its address.
    scope.get('/s/:token', (_request, reply) =>
      sendPage(reply.header('x-robots-tag', 'noindex, nofollow'), 'index.html'),
    )
    if (existsSync(join(builtFiles, 'admin/index.html')))
      scope.get('/admin/', (_request, reply) => sendPage(reply, 'admin/index.html'))
  })
}

/** The settings that the pages need. Everybody can read them. */
function shownSettings(settings: ConsoleSettings, brand: Pick<ReturnType<typeof readBrand>, 'name' | 'color'>) {
  return {
    product: { name: brand.name, color: brand.color },
    mailbox_url: settings.mailboxUrl ?? null,
    local_page: settings.localPage ?? false,
    temporal_ui_url: settings.temporalUiUrl ?? null,
    temporal_namespace: settings.temporalNamespace,
    social_login: (settings.loginProviders ?? []).length > 0,
    billing: settings.stripeSecretKey !== undefined && settings.stripeWebhookSecret !== undefined,
    can_listen: settings.transcriptionBaseUrl !== undefined,
    can_speak: settings.speechBaseUrl !== undefined,
    suggests: settings.suggests?.() ?? false,
  }
}

/** Revalidated each time, so that a new version is used at once; the files that it names are cached. */
function sendFile(reply: FastifyReply, name: string) {
  return withPolicy(reply).sendFile(name, builtFiles, { cacheControl: false }).header('cache-control', 'no-cache')
}

function withPolicy(reply: FastifyReply, policy = contentSecurityPolicy): FastifyReply {
  return reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer')
}

function sendNotBuilt(reply: FastifyReply) {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .header('cache-control', 'no-store')
    .send('The console is not built yet: run "npm run build:web", or use "npm start". The API works without it.\n')
}
