/** Files of the load: several formats and sizes, always the same. */
export const documents = [
  { name: 'harbour.txt', type: 'text/plain', content: prose('harbour', 60) },
  {
    name: 'minutes.md',
    type: 'text/markdown',
    content: `# Minutes\n\n${prose('board', 20)}\n\n## Second day\n\n${prose('basin', 30)}`,
  },
  {
    name: 'prices.csv',
    type: 'text/csv',
    content: `name,price\n${Array.from({ length: 150 }, (_, row) => `item ${row},${row * 3}`).join('\n')}\n`,
  },
  {
    name: 'page.html',
    type: 'text/html',
    content: `<!doctype html><title>Page</title><h1>Tides</h1><p>${prose('tide', 25)}</p>`,
  },
  { name: 'long.txt', type: 'text/plain', content: prose('dredging', 700) },
] as const

export type TestDocument = (typeof documents)[number]

export function formOf({ name, type, content }: TestDocument, prefix: string): FormData {
  const form = new FormData()
  form.append('files', new Blob([content], { type }), `${prefix}-${name}`)
  return form
}

function prose(subject: string, sentences: number): string {
  return Array.from(
    { length: sentences },
    (_, index) =>
      `Sentence ${index} says of the ${subject} that it took ${index % 12} days and cost ${index * 7} crowns. `,
  ).join('')
}
