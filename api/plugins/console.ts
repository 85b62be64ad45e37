import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { answerMissingFiles } from './missing-files.ts'

export interface ConsoleSettings {
  /** A local mail receiver, for a link in the console. */
  mailboxUrl?: string | undefined
  temporalUiUrl?: string | undefined
  temporalNamespace: string
  oauthIssuer?: string | undefined
  stripeSecretKey?: string | undefined
  stripeWebhookSecret?: string | undefined
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
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Serves the console as static files. */
export async function installConsole(app: FastifyInstance, settings: ConsoleSettings): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { isStaticPage: true, ...route.config }
      route.schema = { hide: true, ...route.schema }
    })
    answerMissingFiles(scope)
    scope.get('/console-settings.json', (_request, reply) =>
      reply.header('cache-control', 'no-store').send(shownSettings(settings)),
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
    })
    scope.get('/embed.js', (_request, reply) => sendFile(reply, 'embed.js'))
    scope.get('/icon.svg', (_request, reply) => sendFile(reply, 'icon.svg'))
    for (const url of pages) scope.get(url, (_request, reply) => sendFile(reply, 'index.html'))
    if (existsSync(join(builtFiles, 'admin/index.html')))
      scope.get('/admin/', (_request, reply) => sendFile(reply, 'admin/index.html'))
  })
}

/** The settings that the pages need. Everybody can read them. */
function shownSettings(settings: ConsoleSettings) {
  return {
    mailbox_url: settings.mailboxUrl ?? null,
    temporal_ui_url: settings.temporalUiUrl ?? null,
    temporal_namespace: settings.temporalNamespace,
    social_login: settings.oauthIssuer !== undefined,
    billing: settings.stripeSecretKey !== undefined && settings.stripeWebhookSecret !== undefined,
  }
}

/** Revalidated each time, so that a new version is used at once; the files that it names are cached. */
function sendFile(reply: FastifyReply, name: string) {
  return reply
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .sendFile(name, builtFiles, { cacheControl: false })
    .header('cache-control', 'no-cache')
}

function sendNotBuilt(reply: FastifyReply) {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .header('cache-control', 'no-store')
    .send('The console is not built yet: run "npm run build:web", or use "npm start". The API works without it.\n')
}
