import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Language, defaultLanguage, preferredLanguage } from '../../domain/languages.ts'
import { type PageName, type PageText, pageTexts } from './page-texts.ts'

/** Answers with a small page without scripts, for links that people open, in the language that the browser prefers. */
export function sendHtmlPage(request: FastifyRequest, reply: FastifyReply, page: PageName): FastifyReply {
  const language = preferredLanguage(request.headers['accept-language']) ?? defaultLanguage
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept-language')
    .send(htmlPage(language, pageTexts[language][page]))
}

function htmlPage(language: Language, { title, paragraphs = [], button }: PageText): string {
  const form = button === undefined ? [] : [`<form method="post"><button type="submit">${button}</button></form>`]
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }</style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
${[...paragraphs.map((text) => `<p>${text}</p>`), ...form].map((part) => `      ${part}`).join('\n')}
    </main>
  </body>
</html>
`
}
