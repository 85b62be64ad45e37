/** A small page without scripts, for links that people open. `paragraphs` are HTML. */
export function htmlPage(title: string, paragraphs: string[]): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }</style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
${paragraphs.map((text) => `      <p>${text}</p>`).join('\n')}
    </main>
  </body>
</html>
`
}
