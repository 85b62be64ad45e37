import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Language, defaultLanguage, preferredLanguage } from '../../domain/languages.ts'
import { type PageName, type PageText, pageTexts } from './page-texts.ts'

/** Answers with a small page without scripts, for links that people open, in the language that the browser prefers. */
export function sendHtmlPage(request: FastifyRequest, reply: FastifyReply, page: PageName): FastifyReply {
  const language = preferredLanguage(request.headers['accept-language']) ?? defaultLanguage
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'")
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept-language')
    .send(htmlPage(language, pageTexts[language][page]))
}

/** In the typeface and colours of the console; contrast of at least 4.5 to 1 in both. */
const style = `
      :root { color-scheme: light dark }
      body { margin: 0; min-height: 100vh; display: grid; align-content: center; box-sizing: border-box; padding: 0 1.25rem 16vh; background: light-dark(#fcfcfa, #171916); color: light-dark(#1d1f1c, #e9ebe6); font: 1rem/1.6 'Figtree Variable', system-ui, sans-serif }
      main { max-width: 30rem; margin: 0 auto; text-align: center }
      h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance }
      p { margin: 0 0 0.75rem; color: light-dark(#5c6059, #a4aaa0); text-wrap: pretty }
      button, .button { display: inline-block; margin-top: 0.75rem; padding: 0.6rem 1.1rem; border: 0; border-radius: 10px; background: #3f5bd9; color: #fff; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
    `

function htmlPage(language: Language, { title, paragraphs = [], button, login }: PageText): string {
  const form = button === undefined ? [] : [`<form method="post"><button type="submit">${button}</button></form>`]
  const link = login === undefined ? [] : [`<a class="button" href="/login">${login}</a>`]
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="stylesheet" href="/typeface.css" />
    <style>${style}</style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
${[...paragraphs.map((text) => `<p>${text}</p>`), ...form, ...link].map((part) => `      ${part}`).join('\n')}
    </main>
  </body>
</html>
`
}
