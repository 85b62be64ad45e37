import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PDFiumLibrary } from '@hyzyla/pdfium'
import { createExtractor } from '../../infra/extract/extractor.ts'
import { fileOnDisk } from '../../test/support/file-on-disk.ts'
import { pythonSource } from '../../test/support/python-packages.ts'
import { characterErrorRate, pdfOf, scanOf } from '../../test/support/scans.ts'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'

/** The tests of OCRmyPDF hold scans that are in the public domain or free. */
const scans = { name: 'ocrmypdf', version: '16.10.0' }
const dictionary = join(import.meta.dirname, '../corpus/devils-dictionary.pdf')

const pangram =
  "Portez ce vieux whisky au juge blond qui fume sur son île intérieure, à côté de l'alcôve ovoïde, où les bûches se " +
  "consument dans l'âtre, ce qui lui permet de penser à la cænogenèse de l'être dont il est question dans la cause " +
  'ambiguë entendue à Moÿ, dans un capharnaüm qui, pense-t-il, diminue çà et là la qualité de son œuvre.'

interface Sample {
  what: string
  name: string
  content: Uint8Array
  /** What a person reads. */
  truth: string
}

/** How well and how fast pages that are pictures are read, by one reader with the default languages. */
export async function benchOcr(context: BenchContext): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ocr-'))
  // Chunks as large as a page, without repetition.
  const extractor = createExtractor({
    memoryMb: 1024,
    idleReaders: 1,
    maxTokens: 8000,
    overlapTokens: 0,
    ocr: { languages: ['eng', 'deu'], maxPages: 200 },
  })
  const rows: string[][] = []
  let pages = 0
  let seconds = 0
  try {
    for (const { what, name, content, truth } of await samples()) {
      const path = join(folder, name)
      await writeFile(path, content)
      const startedAt = performance.now()
      const running = extractor.extract(await fileOnDisk(path, name))
      const read: string[] = []
      let next = await running.next()
      for (; !next.done; next = await running.next()) read.push(next.value.text)
      const taken = (performance.now() - startedAt) / 1000
      const scan = next.value.scan
      pages += scan?.pages ?? 0
      seconds += taken
      const text = read.join('\n')
      const wrong = [characterErrorRate(truth, text), missingWords(truth, text)]
      rows.push([
        what,
        ...wrong.map((rate) => `${(100 * rate).toFixed(1)} %`),
        `${scan?.confidence ?? '-'}`,
        taken.toFixed(1),
      ])
    }
  } finally {
    await extractor.close()
    await rm(folder, { recursive: true, force: true })
  }
  context.log('\n### Scans: what is wrong, the confidence of the reader, seconds for the file\n')
  context.log(table(['Scan', 'Characters', 'Words', 'Confidence', 'Seconds'], rows))
  context.log(`\n${((60 * pages) / seconds).toFixed(0)} pages a minute, one file at a time.`)
}

/** The share of words that were not read, wherever they stand: columns may be read in another order. */
function missingWords(truth: string, read: string): number {
  const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []
  const left = new Map<string, number>()
  for (const word of wordsOf(read)) left.set(word, (left.get(word) ?? 0) + 1)
  const words = wordsOf(truth)
  const missing = words.filter((word) => {
    const count = left.get(word) ?? 0
    left.set(word, count - 1)
    return count <= 0
  })
  return missing.length / words.length
}

async function samples(): Promise<Sample[]> {
  const folder = join(await pythonSource(scans.name, scans.version), 'tests/resources')
  const file = async (name: string) => readFile(join(folder, name))
  const linn = await readFile(join(folder, 'linn.txt'), 'utf8')
  const linnScans = ['linn.png', 'ccitt.pdf', 'jbig2.pdf', 'skew.pdf', 'rotated_skew.pdf']
  const drawn = await readFile(dictionary)
  return [
    ...(await Promise.all(
      linnScans.map(async (name) => ({
        what: `${name}, English, two columns`,
        name,
        content: await file(name),
        truth: linn,
      })),
    )),
    { what: 'francais.pdf, French', name: 'francais.pdf', content: await file('francais.pdf'), truth: pangram },
    {
      what: 'a page of a book, drawn at 200 dpi',
      name: 'book.pdf',
      content: pdfOf([await scanOf(drawn, 1)]),
      truth: await textOf(drawn, 1),
    },
  ]
}

async function textOf(pdf: Uint8Array, page: number): Promise<string> {
  const library = await PDFiumLibrary.init()
  const document = await library.loadDocument(pdf)
  const text = document.getPage(page).getText()
  document.destroy()
  library.destroy()
  return text
}
