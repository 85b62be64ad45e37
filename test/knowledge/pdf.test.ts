import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../domain/chunking/block.ts'
import { extractBlocks } from '../../infra/extract/extract-blocks.ts'
import { inReadingOrder } from '../../infra/extract/pdf/words.ts'
import { loadPdfium } from '../../infra/extract/pdf/pdfium.ts'
import type { ScanReader } from '../../infra/extract/ocr/scan.ts'
import { pdfOf } from '../support/hostile-files.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pdf-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function blocks(file: string, scans?: ScanReader): Promise<Block[]> {
  const found: Block[] = []
  for await (const block of extractBlocks(file, 'given.pdf', scans)) found.push(block)
  return found
}

const fixture = (name: string) => blocks(path.join(import.meta.dirname, 'fixtures', name))

async function read(objects: string[], scans?: ScanReader): Promise<Block[]> {
  const file = path.join(folder, 'given.pdf')
  await writeFile(file, pdfOf(objects))
  return blocks(file, scans)
}

const texts = (found: Block[]) => found.map(({ text }) => text)

type Put = [x: number, y: number, text: string, size?: number]

interface Options {
  /** Of the catalogue, and of each page. */
  catalogue?: string
  page?: string
  fonts?: string
  /** Drawn before the text. */
  drawing?: string
  /** Objects from number 4 on. */
  more?: string[]
}

/** A PDF with a page for each list of texts. */
function pagesOf(pages: Put[][], { catalogue = '', page = '', fonts = '', drawing = '', more = [] }: Options = {}) {
  const first = 4 + more.length
  const kids = pages.map((_, index) => `${first + 2 * index} 0 R`).join(' ')
  return [
    `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...more,
    ...pages.flatMap((put, index) => {
      const shown = put.map(([x, y, text, size = 12]) => `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`).join('\n')
      const content = `${drawing}\n${shown}`
      const resources = `/Resources << /Font << /F1 3 0 R ${fonts} >> >>`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${first + 2 * index + 1} 0 R ${resources} ${page} >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ]
    }),
  ]
}

const lines = (x: number, all: string[]): Put[] => all.map((text, index) => [x, 700 - 16 * index, text])

describe('the order of a page', () => {
  const left = [
    'Members may use the',
    'sauna from Monday to',
    'Thursday until nine in',
    'the evening, and need',
    'a towel of their own.',
  ]
  const right = [
    'Guests pay eleven euros',
    'for a day. Children who',
    'are younger than seven',
    'come in free, but only',
    'with an adult.',
  ]

  it('is that of its columns, however they were drawn', async () => {
    const rowByRow = left.flatMap((_, index): Put[] => [
      [72, 700 - 16 * index, left[index] ?? ''],
      [330, 700 - 16 * index, right[index] ?? ''],
    ])
    const columns = [left.join(' '), right.join(' ')]
    expect(texts(await read(pagesOf([rowByRow])))).toEqual(columns)
    expect(texts(await read(pagesOf([[...lines(330, right), ...lines(72, left)]])))).toEqual(columns)
  })

  it('is that of the columns that another program made, below a title across both', async () => {
    const [title, heading, text] = await fixture('columns-reportlab.pdf')
    expect([title?.kind, title?.text]).toEqual(['heading', 'On the Dredging of Eastern Basins'])
    expect([heading?.kind, heading?.text]).toEqual(['heading', '1 Part 1'])
    expect(text?.text).toMatch(
      /^The harbour authority reports on its activities of the year, in which the quay was extended by forty/,
    )
  })

  it('begins from the right where the script does', async () => {
    expect(texts(await fixture('right-to-left-fpdf.pdf')).join(' ')).toBe(
      'שלום עולם, החדר נמצא בקומה 3 ליד המעלית. המפתח אצל השומר דני. הטלפון הוא 03-1234567 בלבד الغرفة رقم 214 في الطابق الثالث.',
    )
  })

  it('leaves numbers as they are in words that are drawn from the wrong side', () => {
    expect(inReadingOrder('2024-\u05d1', true)).toBe('\u05d1-2024')
    expect(inReadingOrder('30:01-\u05d1\u05d0', true)).toBe('\u05d0\u05d1-30:01')
  })

  it('keeps the lines of a table of contents apart, without their dots', async () => {
    const contents: Put[] = [
      [72, 700, '1 Scope . . . . . . . . . . . . . . 2', 16],
      [72, 680, '2 Payment . . . . . . . . . . . 14'],
      [72, 664, 'The contents end here.'],
    ]
    const found = await read(pagesOf([contents]))
    expect(found.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'text: 1 Scope … 2',
      'text: 2 Payment … 14',
      'text: The contents end here.',
    ])
  })

  it('keeps lines apart that end although the next word had room', async () => {
    const address = ['Harbour Clinic', 'Quay Road 12', 'The entrance is at the side of the building.']
    expect(texts(await read(pagesOf([lines(72, address)])))).toEqual([address.join('\n')])
  })
})

describe('words that lines break', () => {
  const join = async (all: string[]) => texts(await read(pagesOf([lines(72, all)]))).join('|')

  it('are joined, and compounds keep their hyphens', async () => {
    const broken = [
      'The well-',
      'known state-of-the-',
      'art laboratory of the E-',
      'Mail department writes long compound-',
    ]
    expect(await join([...broken, 'ing words and pre-', '2020 rules for in- and out-', 'going post.'])).toBe(
      'The well-known state-of-the-art laboratory of the E-Mail department writes long compounding words and pre-2020 rules for in- and outgoing post.',
    )
  })

  it('are written as elsewhere in the document', async () => {
    expect(await join(['A re-entry needs a permit. Each re-', 'entry is noted.'])).toContain('Each re-entry is noted.')
    expect(await join(['It is on page - 2 -', 'Second page: ships.'])).toContain('- 2 - Second')
    expect(await join(['Half of the selfish ones. All self-', 'ish ones.'])).toContain('All selfish ones.')
  })
})

describe('a filled form', () => {
  it('of another program has values and ticks beside their labels', async () => {
    expect(texts(await fixture('form-reportlab.pdf'))).toEqual([
      'Application for a berth',
      'Name Marit Solberg',
      'Insured [x]',
      'Newsletter [ ]',
      'Berth [x] North [ ] South',
      'Country Norway',
      'Remarks:',
      'Arrives late.',
      'Needs power.',
    ])
  })

  it('is read without pictures of its fields', async () => {
    const field = (name: string, rest: string, y: number) =>
      `<< /Type /Annot /Subtype /Widget /T (${name}) ${rest} /Rect [200 ${y} 420 ${y + 20}] /F 4 /DA (/F1 12 Tf 0 g) >>`
    const objects = pagesOf(
      [
        [
          [72, 700, 'Applicant:'],
          [72, 660, 'Insured:'],
        ],
      ],
      {
        page: '/Annots [4 0 R 5 0 R]',
        catalogue: '/AcroForm << /Fields [4 0 R 5 0 R] /DR << /Font << /F1 3 0 R >> >> >>',
        more: [field('a', '/FT /Tx /V (Marit Solberg)', 696), field('b', '/FT /Btn /V /Yes /AS /Yes', 656)],
      },
    )
    expect(texts(await read(objects))).toEqual(['Applicant: Marit Solberg', 'Insured: [x]'])
  })
})

describe('the parts of a report of another program', () => {
  let report: Block[]
  beforeAll(async () => {
    report = await fixture('report-reportlab.pdf')
  })

  it('are headings by their letters', () => {
    const headings = report.filter(({ kind }) => kind === 'heading').map(({ text }) => text)
    expect(headings.slice(0, 4)).toEqual([
      'Annual Report 2024',
      '1. Section number 1',
      'Consolidated figures',
      '2. Section number 2',
    ])
  })

  it('are tables without lines, whose header of years is repeated in each row', () => {
    const rows = report.filter(({ kind }) => kind === 'row')
    expect(rows[0]?.text).toBe('Item 1 of section 1; Note: 1; 2024: 1,234; 2023: (100)')
    expect(rows.filter(({ text }) => text.startsWith('Item')).every(({ text }) => text.includes('; 2024: '))).toBe(true)
  })

  it('are tables over pages, whose header is no row of the next page', () => {
    const ships = report.filter(({ text }) => text.startsWith('Ship: '))
    expect(ships.map(({ text }) => text)).toEqual(
      Array.from(
        { length: 80 },
        (_, index) => `Ship: Vessel ${index}; Tons: ${1000 + index}; Captain: Captain ${index}`,
      ),
    )
    expect(new Set(ships.map(({ page }) => page)).size).toBeGreaterThan(1)
    const ports = report.filter(({ text }) => text.startsWith('Port: '))
    expect(ports).toHaveLength(80)
    expect(ports.at(-1)?.text).toBe('Port: Port 79; Length: 2079; Pilot: Pilot 79')
  })

  it('have the running head once, and no numbers of pages', () => {
    expect(texts(report).filter((text) => text.includes('Harbour Authority ·'))).toHaveLength(1)
    expect(texts(report).filter((text) => /^\d+$/.test(text))).toEqual([])
  })

  it('have sentences that no line end cuts', () => {
    expect(texts(report).some((text) => text.includes('completed well before the date that had been agreed'))).toBe(
      true,
    )
    expect(texts(report).some((text) => /\p{L}\n\p{Ll}/u.test(text))).toBe(false)
  })
})

describe('a ruled table', () => {
  it('repeats merged cells, and leaves the note below it', async () => {
    const across = [640, 600, 580].map((y) => `72 ${y} m 372 ${y} l S`)
    const down = [72, 372].map((x) => `${x} 560 m ${x} 640 l S`)
    const drawing = [
      ...across,
      '172 620 m 372 620 l S 72 560 m 372 560 l S',
      ...down,
      '172 580 m 172 640 l S 272 560 m 272 640 l S',
    ]
    const put: Put[] = [
      [80, 605, 'North'],
      [180, 625, 'Kiruna'],
      [280, 625, '711'],
      [180, 605, 'Umea'],
      [280, 605, '822'],
      [80, 585, 'South'],
      [180, 585, 'Malmo'],
      [280, 585, '144'],
      [80, 565, 'All cities together'],
      [280, 565, '1677'],
      [72, 530, 'Note: without value added tax.'],
    ]
    const header: Put[] = [
      [80, 645, 'Region'],
      [180, 645, 'City'],
      [280, 645, 'Sales'],
    ]
    const ruled = [
      ...drawing,
      '72 660 m 372 660 l S 72 640 m 72 660 l S 172 640 m 172 660 l S 272 640 m 272 660 l S 372 640 m 372 660 l S',
    ]
    expect(texts(await read(pagesOf([[...header, ...put]], { drawing: ruled.join('\n') })))).toEqual([
      'Region: North; City: Kiruna; Sales: 711',
      'Region: North; City: Umea; Sales: 822',
      'Region: South; City: Malmo; Sales: 144',
      'Region: All cities together; City: All cities together; Sales: 1677',
      'Note: without value added tax.',
    ])
  })
})

describe('an aligned table', () => {
  const row = (index: number, [name, ...figures]: string[]): Put[] => [
    [72, 700 - 16 * index, name ?? ''],
    ...figures.map((figure, place): Put => [300 + 60 * place, 700 - 16 * index, figure]),
  ]

  it('keeps the value behind a name that reaches into its column', async () => {
    const names = ['Ship', 'Amalia', 'Brandt', 'Nordstern of the northern harbour', 'Otter', 'Perle', 'Quelle', 'Rhea']
    const put = names.flatMap((name, index) => row(index, [name, index === 0 ? 'Tons' : `${index}11`]))
    expect(texts(await read(pagesOf([put])))).toEqual(
      names.slice(1).map((name, index) => `Ship: ${name}; Tons: ${index + 1}11`),
    )
  })

  it('keeps figures at the edge of a page that grow with its number', async () => {
    const pages = Array.from({ length: 6 }, (_, page) =>
      Array.from({ length: 8 }, (_, index) =>
        row(index, [`Item ${'abcdef'[page]}${'abcdefgh'[index]}`, `${page + 40}`, `${page + 60}`, `${page + 80}`]),
      ).flat(),
    )
    const found = texts(await read(pagesOf(pages)))
      .join(' ')
      .match(/\b(?:[4-8]\d)\b/g)
    expect(found).toHaveLength(6 * 8 * 3)
  })
})

describe('tables beside each other', () => {
  it('are all there, however many', async () => {
    const drawing: string[] = []
    const put: Put[] = []
    for (let table = 0; table < 12; table++) {
      const left = 40 + 44 * table
      for (const x of [left, left + 20, left + 40]) drawing.push(`${x} 600 m ${x} 640 l S`)
      for (const y of [600, 620, 640]) drawing.push(`${left} ${y} m ${left + 40} ${y} l S`)
      for (const [place, x, y] of [
        ['a', 2, 625],
        ['b', 22, 625],
        ['c', 2, 605],
        ['d', 22, 605],
      ] as const)
        put.push([left + x, y, `${place}${table}`, 6])
    }
    const found = texts(await read(pagesOf([put], { drawing: drawing.join('\n') }))).join(' ')
    for (let table = 0; table < 12; table++)
      for (const place of ['c', 'd']) expect(found).toMatch(new RegExp(`\\b${place}${table}\\b`))
  })
})

describe('a reader of many files', () => {
  it('has as much memory for the fortieth as for the fifth', async () => {
    const { bytes } = await loadPdfium()
    const sizes: number[] = []
    for (let file = 1; file <= 40; file++) {
      await fixture('report-reportlab.pdf')
      if (file === 5 || file === 40) sizes.push(bytes().length)
    }
    expect(sizes[1]).toBe(sizes[0])
  })
})

describe('what a document says of itself', () => {
  it('are its labels of pages', async () => {
    const pages = ['Preface.', 'Contents.', 'The pump is rinsed.'].map((text): Put[] => [[72, 700, text]])
    const found = await read(
      pagesOf(pages, { catalogue: '/PageLabels << /Nums [0 << /S /r >> 2 << /S /D /St 1 >>] >>' }),
    )
    expect(found.map(({ page, label }) => [page, label])).toEqual([
      [1, 'i'],
      [2, 'ii'],
      [3, '1'],
    ])
  })

  it('are the headings of its outline, though they look like text', async () => {
    const entry = (title: string, links: string) => `<< /Title (${title}) /Parent 4 0 R /Dest [7 0 R /Fit] ${links} >>`
    const more = [
      '<< /First 5 0 R /Last 6 0 R /Count 2 >>',
      entry('Scope', '/Next 6 0 R'),
      entry('Payment', '/Prev 5 0 R'),
    ]
    const put = lines(72, [
      '1 Scope',
      'This agreement covers cranes of all kinds in the port.',
      '2 Payment',
      'Invoices are due in 21 days.',
    ])
    expect(
      (await read(pagesOf([put], { catalogue: '/Outlines 4 0 R', more }))).map(({ kind, text }) => `${kind}: ${text}`),
    ).toEqual([
      'heading: 1 Scope',
      'text: This agreement covers cranes of all kinds in the port.',
      'heading: 2 Payment',
      'text: Invoices are due in 21 days.',
    ])
  })
})

describe('what only a picture of the page says', () => {
  const recognizer = (text: string): ScanReader => ({
    read: async (_page, draw) => ((await draw()) === undefined ? undefined : text),
    result: () => undefined,
    whyGivenUp: () => undefined,
  })
  /** Each code draws a line, and is called by a name that means nothing. */
  const font = `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 97 /LastChar 122
    /Widths [${'520 '.repeat(26)}] /Encoding << /Type /Encoding /Differences [97 ${Array.from({ length: 26 }, (_, index) => `/q${index}`).join(' ')}] >>
    /CharProcs << ${Array.from({ length: 26 }, (_, index) => `/q${index} 5 0 R`).join(' ')} >> /Resources << >> >>`
  const letter = '500 0 d0 70 w 50 0 m 250 600 l S'
  const illegible = pagesOf([[]], {
    fonts: '/F2 4 0 R',
    drawing: 'BT /F2 20 Tf 72 700 Td (dfi ukgnj ozr kwb mq nxxj hbo lwt jmuu fxcj) Tj ET',
    more: [font, `<< /Length ${letter.length} >>\nstream\n${letter}\nendstream`],
  })

  it('is recognized where a font does not say what its letters mean', async () => {
    expect(texts(await read(illegible, recognizer('THE KEY IS IN ROOM 214')))).toEqual(['THE KEY IS IN ROOM 214'])
    await expect(read(illegible)).rejects.toThrow('The fonts of this PDF do not say which letters they draw')
  })

  it('is recognized beside the stamp of an archive, which is written once', async () => {
    const drawing = 'q 400 0 0 300 72 300 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\xf0\xf0\x00 EI Q'
    const stamp = 'Received by the central archive on 2026-05-18, inbox 12, page 1 of 1'
    const found = await read(
      pagesOf([[[72, 800, stamp, 8]]], { drawing }),
      recognizer(`${stamp}\nSIGNED BY ALMA BRANDT`),
    )
    expect(texts(found)).toEqual([stamp, 'SIGNED BY ALMA BRANDT'])
  })
})
