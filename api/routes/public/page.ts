import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { cutText } from '../../../domain/cut-text.ts'
import { escapeHtml } from '../../../domain/escape-html.ts'
import { defaultProductName } from '../../../domain/product.ts'
import type { PublicAssistant, PublicFamily } from '../../../services/public/index.ts'
import { sendHtmlPage } from '../html-page.ts'

interface Deps {
  publicFamily: Pick<PublicFamily, 'access' | 'about'>
  settings: { baseUrl: string; productName?: string | undefined; productColor?: string | undefined }
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
const maxShownCharacters = 300

/**
 * The page of a public assistant: the chat bubble over the whole window. In the mode `public_token` the reader's link
 * has the token after `#`, which browsers do not send.
 */
export const publicPageRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { publicFamily, settings }) => {
  app.get(
    '/a/:aid',
    {
      config: { auth: 'none', limits: ['pages_client'] },
      schema: { hide: true, params: Type.Object({ aid: Type.String() }) },
    },
    async (request, reply) => {
      const assistant = await publicFamily.access.withPage(request.params.aid)
      if (assistant === undefined) return sendHtmlPage(request, reply.code(404), 'noSuchPage')
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', policy)
        .header('referrer-policy', 'no-referrer')
        .send(pageOf(publicFamily.about(assistant), settings))
    },
  )
}

function pageOf(
  { id, name, description, starters, appearance, keepsChats }: PublicAssistant,
  settings: Deps['settings'],
): string {
  const title = appearance.title || name
  const summary = cutText(description || appearance.greeting || '', maxShownCharacters).toWellFormed()
  const product = settings.productName ?? defaultProductName
  const shared = {
    'og:type': 'website',
    'og:site_name': product,
    'og:url': new URL(`/a/${encodeURIComponent(id)}`, settings.baseUrl).toString(),
    'og:title': title,
    'og:description': summary,
  }
  const attributes = {
    assistant: id,
    layout: 'page',
    face: name,
    title,
    greeting: appearance.greeting,
    description: cutText(description, maxShownCharacters).toWellFormed(),
    color: appearance.color ?? settings.productColor,
    theme: appearance.theme,
    language: appearance.language,
    kept: keepsChats ? 'true' : undefined,
    starters: starters.map((starter) => starter.replaceAll('|', '/')).join('|'),
  }
  const metas = Object.entries(shared).map(([property, content]) => `<meta${attributesOf({ property, content })} />`)
  const data = Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`data-${key}`, value]))
  return `<!doctype html>
<html${attributesOf({ lang: appearance.language })}>
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escapeHtml(title)}</title>
    <meta${attributesOf({ name: 'description', content: summary })} />
    ${metas.join('\n    ')}
    <link rel="icon" href="/icon.svg" />
    <link rel="stylesheet" href="/typeface.css" />
  </head>
  <body>
    <main><noscript>This page needs JavaScript.</noscript></main>
    <script src="/embed.js"${attributesOf(data)}></script>
  </body>
</html>
`
}

/** What is empty is left out. */
function attributesOf(values: Record<string, string | undefined>): string {
  return Object.entries(values)
    .map(([key, value]) => (value ? ` ${key}="${escapeHtml(value)}"` : ''))
    .join('')
}
