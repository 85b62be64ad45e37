import { readFile } from 'node:fs/promises'
import { PDFiumLibrary } from '@hyzyla/pdfium'
import { linesOf } from '../../infra/lines.ts'

/** PDFium alone, in one process that stays warm: a path in, the number of characters out. */
const library = await PDFiumLibrary.init()

async function extract(path: string): Promise<number> {
  const bytes = await readFile(path)
  const document = await library.loadDocument(bytes)
  let characters = 0
  for (const page of document.pages()) characters += page.getText().length
  document.destroy()
  return characters
}

console.log(JSON.stringify({ ready: true }))
for await (const line of linesOf(process.stdin)) {
  console.log(JSON.stringify({ characters: await extract(line) }))
}
