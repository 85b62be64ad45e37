import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ScansBusy, scanLimits } from '../../domain/knowledge/scan.ts'
import { readingSlots, scanSlots } from '../../domain/knowledge/slots.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { type Extractor, createExtractor } from '../../infra/extract/extractor.ts'
import { checkLanguages } from '../../infra/extract/ocr/languages.ts'
import { createScanReader } from '../../infra/extract/ocr/scan.ts'
import { extractFile } from '../../services/knowledge/extract-file.ts'
import type { FileToRead, Scans } from '../../services/knowledge/extraction.ts'
import { createRecognition } from '../../services/knowledge/recognition.ts'
import { createSemaphore } from '../../services/semaphore.ts'
import { eventually } from '../support/eventually.ts'
import { fileOnDisk } from '../support/file-on-disk.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import {
  type Grey,
  blank,
  characterErrorRate,
  noise,
  pdfOf,
  pngChunk,
  pngOf,
  scanOf,
  tiffOf,
  upsideDown,
} from '../support/scans.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const minutes = `The board met on the ninth of April at the old custom house.
It resolved to dredge the western basin before the autumn storms,
and to ask the town for 73,500 marks. Der Hafenmeister widersprach:
the crane on the northern pier had to come first, he said.
After long debate both were put to the vote and accepted.`
const letter = `Dear Sirs, the lantern of the eastern mole has burned for ninety years.
It wants a new lens, two men for a week, and calm weather.
Yours faithfully, the keeper of the light.`
/** Chunks as large as a page, so that none repeats the end of another. */
const limits = {
  memoryMb: 1024,
  cpuSeconds: 60,
  timeoutSeconds: 600,
  idleReaders: 1,
  maxTokens: 4000,
  overlapTokens: 0,
}
const ocr = { languages: ['eng', 'deu'], maxPages: 20 }

let folder: string
let extractor: Extractor
let scan: Grey

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'scans-'))
  extractor = createExtractor({ ...limits, ocr })
  scan = await scanOf(pdfOf([minutes]))
})
afterAll(async () => {
  await extractor.close()
  await rm(folder, { recursive: true, force: true })
})

async function read(name: string, content: Uint8Array, from = extractor) {
  const file = path.join(folder, name)
  await writeFile(file, content)
  const running = from.extract(await fileOnDisk(file, name))
  const chunks = []
  for (;;) {
    const next = await running.next()
    if (next.done) return { ...next.value, chunks, text: chunks.map(({ text }) => text).join('\n') }
    chunks.push(next.value)
  }
}

const reasonOf = (running: Promise<unknown>) =>
  running.then(
    () => 'none',
    (error: unknown) => (error instanceof UnreadableFile ? `${error.reason}: ${error.message}` : String(error)),
  )

describe('pages that are pictures', { timeout: 180_000 }, () => {
  it('are read, page by page, beside pages with text, blank ones, and ones without legible words', async () => {
    const gravel = noise(300, 300)
    const cover = 'Minutes of the harbour board, signed and sealed in the spring of the year'
    const found = await read('mixed.pdf', pdfOf([cover, scan, blank(600, 800), gravel]))
    expect(found.contentType).toBe('application/pdf')
    expect(found.scan).toEqual({ pages: 1, confidence: expect.any(Number), unreadable_pages: [4] })
    expect(found.scan?.confidence).toBeGreaterThan(85)
    const pages = new Set(found.chunks.flatMap(({ pages: of }) => of?.map(({ page }) => page) ?? []))
    expect(pages).toEqual(new Set([1, 2]))
    expect(found.text).toContain(cover)
    expect(characterErrorRate(minutes, found.text.replace(cover, ''))).toBeLessThan(0.03)
  })

  it('are read upside down, and as PNG and TIFF files with several pages', async () => {
    const turned = await read('turned.png', pngOf(upsideDown(scan)))
    expect(turned).toMatchObject({ contentType: 'image/png', scan: { pages: 1, unreadable_pages: [] } })
    expect(characterErrorRate(minutes, turned.text)).toBeLessThan(0.03)
    const tiff = await read('fax.tiff', tiffOf([scan, await scanOf(pdfOf([letter]))]))
    expect(tiff).toMatchObject({ contentType: 'image/tiff', scan: { pages: 2 } })
    expect(characterErrorRate(`${minutes} ${letter}`, tiff.text)).toBeLessThan(0.05)
  })

  it('end at the limit of one file, and say which were left out', async () => {
    const few = createExtractor({ ...limits, ocr: { ...ocr, maxPages: 1 } })
    try {
      const found = await read('long.pdf', pdfOf([scan, scan, scan]), few)
      expect(found.scan).toMatchObject({ pages: 1, unreadable_pages: [2, 3] })
    } finally {
      await few.close()
    }
  })

  it('say why nothing was read', async () => {
    expect(await reasonOf(read('gravel.png', pngOf(noise(200, 200))))).toBe(
      'no_text: No legible words were found in this picture.',
    )
    expect(await reasonOf(read('gravel.pdf', pdfOf([noise(200, 200)])))).toBe(
      'no_text: This PDF has pages but no text, and no legible words were found in its pictures.',
    )
    expect(await reasonOf(read('half.png', pngOf(scan).subarray(0, 2000)))).toMatch(/^(?:damaged|no_text): /)
    const without = createExtractor(limits)
    try {
      expect(await reasonOf(read('off.png', pngOf(scan), without))).toMatch(/^unsupported: /)
      expect(await reasonOf(read('off.pdf', pdfOf([scan]), without))).toMatch(/^no_text: .* are not read\.$/)
    } finally {
      await without.close()
    }
  })

  it('that unpack to gigabytes or lead in a circle fail alone', async () => {
    // The head of a picture of 60,000 by 60,000 points, with one line.
    const bomb = pngOf({ width: 60_000, height: 1, data: new Uint8Array(60_000) })
    bomb.set(pngChunk('IHDR', Uint8Array.from([0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 0, 0, 0, 0])), 8)
    const circle = tiffOf([blank(100, 100), blank(100, 100)])
    circle.writeUInt32LE(circle.readUInt32LE(4), circle.length - 4)
    const [bystander, ...reasons] = await Promise.all([
      read('bystander.txt', Buffer.from('The pier is of stone.')),
      reasonOf(read('bomb.png', bomb)),
      reasonOf(read('circle.tiff', circle)),
    ])
    expect(bystander.text).toBe('The pier is of stone.')
    expect(reasons[0]).toMatch(/^(?:out_of_memory|damaged|too_slow|no_text|crashed): /)
    expect(reasons[1]).toMatch(/^no_text: /)
  })

  it('need the data of their languages, and a name of its package when it lacks', () => {
    expect(() => checkLanguages(['eng', 'deu'])).not.toThrow()
    expect(() => checkLanguages(['eng', 'xxx'])).toThrow(
      'OCR_LANGUAGES names xxx, whose data is not installed: npm install --no-save @tesseract.js-data/xxx',
    )
  })
})

describe('the time for pages that are pictures', () => {
  const pages = (count: number, scans: ReturnType<typeof createScanReader>) =>
    Promise.all(Array.from({ length: count }, (_, index) => index + 1).map((page) => scans.read(page, picture)))
  const picture = () => Promise.resolve({ bytes: new Uint8Array() })

  it('ends after three pages that take longer than a page may', async () => {
    const tried: string[] = []
    const scans = createScanReader(
      ocr,
      async () => void tried.push('page'),
      () => Promise.resolve('hopeless'),
    )
    for (let page = 1; page <= 20; page++) await scans.read(page, picture)
    expect(tried).toHaveLength(scanLimits.hopelessPages)
    expect(scans.whyGivenUp()).toBe('its pictures take longer to read than is allowed')
    expect(scans.result()?.unreadable_pages).toHaveLength(20)
    // Pages of pictures without words are nothing of that kind.
    const photos = createScanReader(
      { ...ocr, maxPages: 100 },
      () => Promise.resolve(),
      () => Promise.resolve(undefined),
    )
    await pages(20, photos)
    expect(photos.whyGivenUp()).toBeUndefined()
  })

  it('is bounded by file and by what the user has left, and is told page by page', { timeout: 180_000 }, async () => {
    const name = 'three.pdf'
    const file = path.join(folder, name)
    await writeFile(file, pdfOf([scan, scan, scan]))
    const used: number[] = []
    const scansOf = (seconds: number) => ({
      seconds,
      isDayLimit: true,
      begin: () => true,
      used: (more: number) => used.push(more),
    })
    const extracted = async (scans: Scans) => {
      const running = extractor.extract({ ...(await fileOnDisk(file, name)), scans })
      for (;;) {
        const next = await running.next()
        if (next.done) return next.value
      }
    }
    // The first page takes longer than that.
    expect((await extracted(scansOf(0.1))).scan).toMatchObject({ pages: 1, unreadable_pages: [2, 3] })
    expect(used.reduce((sum, more) => sum + more, 0)).toBeGreaterThan(0.1)
    expect(await reasonOf(extracted(scansOf(0)))).toBe(
      'no_text: This PDF has pages but no text, and this account has no more time for reading pictures today.',
    )
    await expect(extracted({ ...scansOf(100), begin: () => false })).rejects.toThrow(ScansBusy)
  })
})

describe('a scan that is uploaded', () => {
  const service = useSharedService()

  it('is quoted with its page, and shows what was read of it', { timeout: 120_000 }, async () => {
    const owner = await knowledgeClient(await insertUser(service))
    const { body } = await owner.upload([
      { name: 'scan.pdf', content: Uint8Array.from(pdfOf([blank(600, 800), scan])) },
    ])
    expect(body.files[0].metadata).toMatchObject({
      status: 'ready',
      content_type: 'application/pdf',
      scan: { pages: 1, unreadable_pages: [] },
    })
    expect(body.files[0].metadata.scan.confidence).toBeGreaterThan(85)
    const { body: listed } = await owner.call('GET', `/assistants/${owner.assistantId}/files`)
    expect(listed.files[0].metadata.scan.pages).toBe(1)
  })

  it('of gravel leaves a place to the small files of others, and waits for its own', async () => {
    const { collections } = service
    const readers = new Map<string, PromiseWithResolvers<void>>()
    const files = new Map<string, string>()
    const deps = {
      collections,
      blobs: service.api.infra.knowledge.blobs,
      // As the reader does it, without a minute of processor time.
      extraction: {
        async *extract({ name, scans }: FileToRead) {
          if (name.startsWith('gravel')) {
            if (!scans?.begin()) throw new ScansBusy()
            readers.set(name, Promise.withResolvers())
            await readers.get(name)?.promise
            scans.used(40)
          }
          yield { position: 0, text: 'a', tokens: 1, newCharacters: 1 }
          return { contentType: 'text/plain' }
        },
      },
      readingSlots: createSemaphore(readingSlots(3)),
      scanSlots: createSemaphore(scanSlots(3)),
      transaction: service.api.platform.core.transaction,
      workUsage: service.api.platform.core.workUsage,
      recognition: createRecognition({
        collections,
        secondsPerDay: 60,
        onError: (error) => expect(error).toBeUndefined(),
      }),
    }
    const begin = async (name: string) => {
      const owner = await knowledgeClient(await insertUser(service))
      const { body } = await owner.upload([{ name, content: Uint8Array.from(Buffer.from('text')) }])
      const { id } = body.files[0]
      files.set(name, id)
      await collections.files.updateOne({ _id: id }, { $set: { status: 'queued', extracted: false, chunks: 0 } })
      return { owner, read: () => extractFile(deps, id, new AbortController().signal) }
    }
    const [one, two, three, small] = await Promise.all(
      ['gravel1.txt', 'gravel2.txt', 'gravel3.txt', 'small.txt'].map(begin),
    )
    const first = one?.read()
    const second = two?.read()
    await eventually('both scans are read', () => readers.size === 2)
    expect(await three?.read()).toBe('busy')
    expect(await small?.read()).toBe('done')
    const known = await collections.files.findById(files.get('gravel3.txt')).lean()
    expect(known).toMatchObject({ has_scans: true, extracted: false })
    // It now waits for a place of its own before it takes one of all.
    const third = three?.read()
    for (const name of ['gravel1.txt', 'gravel2.txt']) readers.get(name)?.resolve()
    expect(await Promise.all([first, second])).toEqual(['done', 'done'])
    await eventually('the third scan is read', () => readers.has('gravel3.txt'))
    readers.get('gravel3.txt')?.resolve()
    expect(await third).toBe('done')
    await eventually('its time is counted', async () => {
      const user = one && (await collections.users.findById(one.owner.userId).lean())
      return user?.recognition?.seconds === 40
    })
    await expect.poll(async () => (await one?.owner.get('/user/usage'))?.work.recognition_seconds).toBe(40)
    expect(await deps.recognition.secondsLeft(one?.owner.userId ?? '')).toBe(20)
    expect(await deps.recognition.secondsLeft(small?.owner.userId ?? '')).toBe(60)
  })
})
