import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../domain/chunking/block.ts'
import { extractBlocks } from '../../infra/extract/extract-blocks.ts'
import type { ScanReader } from '../../infra/extract/ocr/scan.ts'
import { loadPdfium } from '../../infra/extract/pdf/pdfium.ts'
import { inReadingOrder, withBrackets } from '../../infra/extract/pdf/words.ts'
import { pdfOf } from '../support/hostile-files.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pdf-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function blocks(file: string, scans?: ScanReader): Promise<Block[]> {
  const found: Block[] = []
  for await (const block of extractBlocks(file, 'given.pdf', { scans })) found.push(block)
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
    expect(inReadingOrder(drawn('2024-\u05d1'))).toBe('\u05d1-2024')
    expect(inReadingOrder(drawn('30:01-\u05d1\u05d0'))).toBe('\u05d0\u05d1-30:01')
    const mixed = [
      ...drawn(':'),
      ...drawn('\u05d0\u05d1').map((letter) => ({ ...letter, left: letter.left + 1, right: letter.right + 1 })),
    ]
    expect(inReadingOrder(mixed)).toBe('\u05d1\u05d0:')
  })

  it('has letters that are drawn as one, and brackets, as they are meant', () => {
    const one = { left: 1, right: 2 }
    const word = [
      { text: '\u0631', left: 0, right: 1 },
      { text: '\u0625', ...one },
      { text: '\u0644', ...one },
      { text: '\u0627', left: 2, right: 3 },
    ]
    expect(inReadingOrder(word)).toBe('\u0627\u0644\u0625\u0631')
    expect(withBrackets(')\u05d0\u05d1 18%( \u05d2')).toBe('(\u05d0\u05d1 18%) \u05d2')
    expect(withBrackets('(\u05d0) [1]')).toBe('(\u05d0) [1]')
    expect(withBrackets('1) \u05d0')).toBe('1) \u05d0')
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

describe('a table that goes on', () => {
  it('keeps its first rows on each page, though they look like running heads', async () => {
    const page = (first: number): Put[] =>
      Array.from({ length: 12 }, (_, row): Put[] => {
        const [number, y] = [first + row, 700 - 20 * row]
        return [
          [72, y, `Article ${number}`],
          [222, y, `Hall ${number % 4}`],
          [372, y, 'paid'],
          [472, y, String(3 * number)],
        ]
      }).flat()
    const names: Put[] = [
      [72, 720, 'Goods'],
      [222, 720, 'Place'],
      [372, 720, 'State'],
      [472, 720, 'Sum'],
    ]
    const found = texts(await read(pagesOf([[...names, ...page(1)], page(13), page(25), page(37), page(49)])))
    expect(found).toHaveLength(60)
    expect(found[12]).toBe('Goods: Article 13; Place: Hall 1; State: paid; Sum: 39')
    expect(found[59]).toBe('Goods: Article 60; Place: Hall 0; State: paid; Sum: 180')
  })

  it('joins the two parts of a row that the end of a page cut', async () => {
    const across = [720, 690, 660, 620].map((y) => `72 ${y} m 472 ${y} l S`)
    const down = [72, 172, 272, 472].map((x) => `${x} 620 m ${x} 720 l S`)
    const head: Put[] = [
      [80, 705, 'Berth'],
      [180, 705, 'Owner'],
      [280, 705, 'Note'],
    ]
    const first: Put[] = [
      ...head,
      ...([
        [80, 675, 'B1'],
        [180, 675, 'Ada'],
        [280, 675, 'Pays early.'],
      ] satisfies Put[]),
      ...([
        [80, 645, 'B2'],
        [180, 645, 'Bo'],
        [280, 645, 'Pays at the end of a month,'],
      ] satisfies Put[]),
    ]
    const next: Put[] = [
      ...head,
      ...([
        [180, 675, 'Berg'],
        [280, 675, 'by transfer.'],
      ] satisfies Put[]),
      ...([
        [80, 645, 'B3'],
        [180, 645, 'Cy'],
        [280, 645, 'Pays in cash.'],
      ] satisfies Put[]),
    ]
    const found = await read(pagesOf([first, next], { drawing: [...across, ...down].join('\n') }))
    expect(found.map(({ text, page }) => [text, page])).toEqual([
      ['Berth: B1; Owner: Ada; Note: Pays early.', 1],
      ['Berth: B2; Owner: Bo Berg; Note: Pays at the end of a month, by transfer.', 1],
      ['Berth: B3; Owner: Cy; Note: Pays in cash.', 2],
    ])
  })

  it('has years above its columns, where signs of a currency stand apart', async () => {
    const rows: [string, string, string, string, string][] = [
      ['Revenue', '$', '1,204.5', '$', '1,100.2'],
      ['Cost of sales', '', '\\(604.1', '', '\\(580.0'],
      ['Margin', '', '49.8', '', '47.3'],
      ['Net income', '$', '480.3', '$', '410.9'],
    ]
    const put = rows.flatMap(([name, sign, first, other, second], row): Put[] => {
      const y = 660 - 16 * row
      const end = first.startsWith('\\(') ? '\\)' : name === 'Margin' ? '%' : ''
      const all: Put[] = [
        [72, y, name],
        [300, y, sign],
        [350, y, first],
        [390, y, end],
        [450, y, other],
        [500, y, second],
        [540, y, end],
      ]
      return all.filter(([, , text]) => text !== '')
    })
    const years: Put[] = [
      [340, 696, 'December 31,'],
      [490, 696, 'December 31,'],
      [360, 680, '2025'],
      [510, 680, '2024'],
    ]
    expect(texts(await read(pagesOf([[...years, ...put]])))).toEqual([
      'Revenue; December 31, 2025: $1,204.5; December 31, 2024: $1,100.2',
      'Cost of sales; December 31, 2025: (604.1); December 31, 2024: (580.0)',
      'Margin; December 31, 2025: 49.8%; December 31, 2024: 47.3%',
      'Net income; December 31, 2025: $480.3; December 31, 2024: $410.9',
    ])
  })
})

describe('a table that a spreadsheet printed', () => {
  const digit = 0.556 * 12
  /** A figure that ends at `right`. */
  const figure = (right: number, y: number, value: number): Put => [right - digit * `${value}`.length, y, `${value}`]
  const rows: [string, number, string, number][] = [
    ['Valve', 9014, 'Crane', 31],
    ['Rope of the north quay', 391, 'Anchor', 7],
    ['Pump', 3326, 'Tide lamp', 2977],
    ['Lamp', 45, 'Rinse', 514],
  ]
  const put = rows.flatMap(([name, sum, place, count], row): Put[] => {
    const y = 680 - 16 * row
    return [[72, y, name], figure(296, y, sum), [300, y, place], figure(426, y, count)]
  })

  it('has names at the left of its columns, figures at the right, and no space between them', async () => {
    const names: Put[] = [
      [72, 700, 'Part'],
      [212, 700, 'Sum'],
      [300, 700, 'Place'],
      [370, 700, 'Count'],
    ]
    expect(texts(await read(pagesOf([[...names, ...put]])))).toEqual([
      'Part: Valve; Sum: 9014; Place: Crane; Count: 31',
      'Part: Rope of the north quay; Sum: 391; Place: Anchor; Count: 7',
      'Part: Pump; Sum: 3326; Place: Tide lamp; Count: 2977',
      'Part: Lamp; Sum: 45; Place: Rinse; Count: 514',
    ])
  })

  it.each([
    ['at the left', 160, 320],
    ['in the middle', 220, 380],
  ])('has years %s above names of their columns', async (_where, first, second) => {
    const columns = [220, 300, 380, 460]
    const halves = columns.map((right, at): Put => [right - 60, 700, `H${1 + (at % 2)}`])
    const years: Put[] = [
      [first, 716, '2024'],
      [second, 716, '2025'],
    ]
    const regions = ['North', 'South', 'East', 'West'].flatMap((name, row): Put[] => {
      const y = 680 - 16 * row
      return [[72, y, name], ...columns.map((right, at) => figure(right, y, 10 * row + at + 30))]
    })
    const found = texts(await read(pagesOf([[...years, [72, 700, 'Region'], ...halves, ...regions]])))
    expect(found[0]).toBe('Region: North; 2024 H1: 30; 2024 H2: 31; 2025 H1: 32; 2025 H2: 33')
    expect(found).toHaveLength(4)
  })

  it('ends where a text across the columns leads to names of its own', async () => {
    const names: Put[] = [
      [72, 700, 'Part'],
      [212, 700, 'Sum'],
      [300, 700, 'Place'],
      [370, 700, 'Count'],
    ]
    const ships: Put[] = [
      [72, 590, 'Ship'],
      [180, 590, 'Owner'],
      [372, 590, 'Crew'],
    ]
    const fleet = ['Ada', 'Bo', 'Cy'].flatMap((ship, row): Put[] => {
      const y = 574 - 16 * row
      return [
        [72, y, ship],
        [180, y, row === 1 ? 'Harbour company of the north' : 'Quay'],
        [372, y, `${row + 4}`],
      ]
    })
    const text: Put = [72, 606, 'All the ships that lie in the harbour at night:']
    const found = texts(await read(pagesOf([[...names, ...put, text, ...ships, ...fleet]])))
    expect(found.slice(3)).toEqual([
      'Part: Lamp; Sum: 45; Place: Rinse; Count: 514',
      'All the ships that lie in the harbour at night:',
      'Ship: Ada; Owner: Quay; Crew: 4',
      'Ship: Bo; Owner: Harbour company of the north; Crew: 5',
      'Ship: Cy; Owner: Quay; Crew: 6',
    ])
  })

  it('says a long value once, though the next cell is empty', async () => {
    const names: Put[] = [
      [72, 700, 'Part'],
      [180, 700, 'Place'],
      [300, 700, 'Count'],
    ]
    const cells = ['Valve', 'Rope of the north', 'Pump'].flatMap((part, row): Put[] => {
      const y = 684 - 16 * row
      return [[72, y, part], ...(row === 1 ? [] : [[180, y, 'Quay'] satisfies Put]), [300, y, `${row + 4}`]]
    })
    const more: Put[] = [
      [72, 636, 'Lamp'],
      [180, 636, 'Crane'],
      [300, 636, '9'],
    ]
    expect((await read(pagesOf([[...names, ...cells, ...more]])))[1]?.text).toBe('Part: Rope of the north; Count: 5')
  })

  it('ends where the next page has names of its own', async () => {
    const names = (given: string[]): Put[] => given.map((name, at): Put => [[72, 212, 300, 370][at] ?? 0, 700, name])
    const pages = [names(['Part', 'Sum', 'Place', 'Count']), names(['Ship', 'Length', 'Owner', 'Crew'])]
    const found = texts(await read(pagesOf(pages.map((page) => [...page, ...put]))))
    expect(found[4]).toBe('Ship: Valve; Length: 9014; Owner: Crane; Crew: 31')
    expect(found).toHaveLength(8)
  })
})

describe('a table of a report', () => {
  const lines: [string, string, string][] = [
    ['Net sales', '1,204', '1,100'],
    ['Cost of sales', '604', '580'],
    ['Operating income', '600', '520'],
    ['Net income', '480', '410'],
  ]
  const shifted = lines.map(([name, first, second], row) => ({ y: 640 - 16 * row, name, first, second }))
  const rows = shifted.flatMap(({ y, name, first, second }): Put[] => [
    [72, y, name],
    [360, y, first],
    [460, y, second],
  ])
  const years: Put[] = [
    [72, 656, 'Years ended June 30,'],
    [362, 656, '2025'],
    [462, 656, '2024'],
  ]
  const expected = [
    'Years ended June 30,',
    'Net sales; 2025: 1,204; 2024: 1,100',
    'Cost of sales; 2025: 604; 2024: 580',
    'Operating income; 2025: 600; 2024: 520',
    'Net income; 2025: 480; 2024: 410',
  ]
  const box = (x: number, y: number, width: number) => `${x} ${y - 4} ${width} 16 re f`
  const boxes = (of: [x: number, width: number][]) =>
    shifted.flatMap(({ y }) => of.map(([x, width]) => box(x, y, width))).join('\n')

  it('is one, though its cells are shaded with gaps between them', async () => {
    const drawing = boxes([
      [70, 270],
      [345, 6],
      [351, 74],
      [430, 10],
      [440, 80],
    ])
    expect(texts(await read(pagesOf([[...years, ...rows]], { drawing })))).toEqual(expected)
  })

  it('is one, though only its first column is shaded', async () => {
    const drawing = boxes([
      [340, 15],
      [355, 60],
    ])
    const signed = rows.flatMap((put): Put[] => (put[0] === 360 ? [[345, put[1], '$'], put] : [put]))
    expect(texts(await read(pagesOf([[...years, ...signed]], { drawing })))).toEqual(
      expected.map((line) => line.replace('2025: ', () => '2025: $')),
    )
  })

  it('keeps values in their column where the sign of the currency stands at the left of it', async () => {
    const signs: Put[] = [
      [332, 640, '$'],
      [402, 640, '$'],
    ]
    const found = texts(await read(pagesOf([[...years, ...rows, ...signs]])))
    expect(found[1]).toBe('Net sales; 2025: $1,204; 2024: $1,100')
  })

  it('has the lines above its years as its caption', async () => {
    const above: Put[] = [
      [72, 688, 'Statements of Income'],
      [400, 688, 'Harbour Group Incorporated'],
      [400, 672, 'June 30,'],
    ]
    const [, ...others] = years
    const corner: Put = [72, 656, '\\(in millions\\)']
    const found = await read(pagesOf([[...above, corner, ...others, ...rows]]))
    const caption = 'Statements of Income; Harbour Group Incorporated June 30, (in millions)'
    expect(found.at(-1)).toMatchObject({ text: 'Net income; 2025: 480; 2024: 410', caption })
  })
})

/** Letters as they stand on the page from the left. */
const drawn = (text: string) => Array.from(text, (letter, index) => ({ text: letter, left: index, right: index + 1 }))

describe('a ruled table', () => {
  it('joins a date or an account that a narrow cell has broken', async () => {
    const drawing = [720, 690, 650].map((y) => `72 ${y} m 272 ${y} l S`)
    const down = [72, 172, 272].map((x) => `${x} 650 m ${x} 720 l S`)
    const put: Put[] = [
      [80, 705, 'Berth'],
      [180, 705, 'Issued'],
      [80, 675, 'B1'],
      [180, 675, '2025-02-'],
      [180, 660, '12'],
    ]
    const found = await read(pagesOf([put], { drawing: [...drawing, ...down].join('\n') }))
    expect(texts(found)).toEqual(['Berth: B1; Issued: 2025-02-12'])
  })

  it('has the names of its rows, though no line closes its left side', async () => {
    const across = [720, 700, 680, 660].map((y) => `72 ${y} m 372 ${y} l S`)
    const down = [172, 272, 372].map((x) => `${x} 660 m ${x} 720 l S`)
    const rows = [
      ['Ship', 'Tons', 'Berth'],
      ['Amalia', '1180', 'B1'],
      ['Nordstern', '960', 'B2'],
    ]
    const put = rows.flatMap((row, index) => row.map((text, at): Put => [80 + 100 * at, 705 - 20 * index, text]))
    const found = await read(pagesOf([put], { drawing: [...across, ...down].join('\n') }))
    expect(texts(found)).toEqual(['Ship: Amalia; Tons: 1180; Berth: B1', 'Ship: Nordstern; Tons: 960; Berth: B2'])
  })

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

  const wrapped: [name: string[], count: string, rule: string[]][] = [
    [['Sluice'], '4', ['Opens when the tide', 'has turned']],
    [['Crane of the', 'west basin'], '2', ['Needs a pilot']],
    [['Tug'], '7', ['Is called by lamp', 'Alpha, then waits']],
    [['Ferry'], '9', ['Leaves at noon']],
  ]
  const names: Put[] = [
    [72, 700, 'Place'],
    [200, 700, 'Count'],
    [300, 700, 'Rule'],
  ]
  /** Lines of a row are 12 points apart, and rows `between` more. */
  function wrappedRows(between: number): Put[] {
    let y = 700
    return wrapped.flatMap(([name, count, rule]) => {
      y -= 12 + between
      const top = y
      y -= 12 * (Math.max(name.length, rule.length) - 1)
      const lines = (x: number, of: string[]) => of.map((text, at): Put => [x, top - 12 * at, text, 10])
      return [...lines(72, name), [200, top, count, 10], ...lines(300, rule)]
    })
  }

  it('joins the lines of a cell, which are nearer to each other than rows', async () => {
    expect(texts(await read(pagesOf([[...names, ...wrappedRows(8)]])))).toEqual([
      'Place: Sluice; Count: 4; Rule: Opens when the tide has turned',
      'Place: Crane of the west basin; Count: 2; Rule: Needs a pilot',
      'Place: Tug; Count: 7; Rule: Is called by lamp Alpha, then waits',
      'Place: Ferry; Count: 9; Rule: Leaves at noon',
    ])
  })

  it('joins lines that go on with a small letter, however near the rows are', async () => {
    const found = texts(await read(pagesOf([[...names, ...wrappedRows(0)]])))
    expect(found[0]).toBe('Place: Sluice; Count: 4; Rule: Opens when the tide has turned')
    expect(found.at(-1)).toBe('Place: Ferry; Count: 9; Rule: Leaves at noon')
  })

  it('keeps a row without a name, and one that is nothing but a name', async () => {
    const put = [
      ...row(0, ['Ship', 'Tons', 'Crew']),
      ...row(1, ['Amalia', '111', '4']),
      ...row(2, ['', '211', '5']),
      ...row(3, ['Under sail']),
      ...row(4, ['Brandt', '311', '6']),
      ...row(5, ['Otter', '411', '7']),
    ]
    expect(texts(await read(pagesOf([put])))).toEqual([
      'Ship: Amalia; Tons: 111; Crew: 4',
      'Tons: 211; Crew: 5',
      'Ship: Under sail',
      'Ship: Brandt; Tons: 311; Crew: 6',
      'Ship: Otter; Tons: 411; Crew: 7',
    ])
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
