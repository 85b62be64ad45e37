import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Reading, extractBlocks } from '../../infra/extract/extract-blocks.ts'
import { type Sheet, docx, paragraph, xlsx } from '../support/office-files.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tables-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The texts of the blocks of a file. */
async function read(name: string, data: string | Buffer, reading: Reading = {}): Promise<string[]> {
  const file = path.join(folder, 'given')
  await writeFile(file, data)
  const texts: string[] = []
  for await (const { text } of extractBlocks(file, name, reading)) texts.push(text.trim())
  return texts
}
/** The sheet and row of each row of a file. */
async function numbers(name: string, data: string | Buffer): Promise<string[]> {
  const file = path.join(folder, 'given')
  await writeFile(file, data)
  const places: string[] = []
  for await (const { kind, sheet: title = '', row } of extractBlocks(file, name))
    if (kind === 'row') places.push(`${title} ${row}`)
  return places
}
const sheet = async (rows: Sheet['rows'], more: Partial<Sheet> = {}) =>
  (await read('book.xlsx', xlsx([{ name: 'Sheet', rows, ...more }]))).slice(1)
const csv = (text: string) => read('rows.csv', text)

describe('letters above and below their line', () => {
  const fixture = (name: string) => readFile(path.join(import.meta.dirname, 'fixtures', name))

  it('are powers in slides, and signs of notes stay', async () => {
    expect(await read('loads.pptx', await fixture('raised-python-pptx.pptx'))).toEqual([
      'Loads',
      'The load is 2.5 x 10^6 N per m^2 of H2O.',
      'See the report3',
      'Unit: pressure; Value: 10^-3',
    ])
  })

  it('are powers in cells of workbooks', async () => {
    expect(await read('units.xlsx', await fixture('raised-xlsxwriter.xlsx'))).toEqual([
      'Units',
      'Quantity: Load; Value: 2.5 · 10^6; Unit: kN/m^2',
      'Quantity: Water; Value: H2O; Unit: Area of the hall1',
      'Quantity: Plain & <tag>; Value: a b & c; Unit: m2',
    ])
  })
})

describe('a table in plain text', () => {
  const text = (...lines: string[]) => read('notes.txt', lines.join('\n'))

  it('is told by columns that spaces align, or tabs part', async () => {
    expect(
      await text(
        'Fees of the harbour',
        '',
        'Item         Price   Unit',
        'Mooring      12.00   day',
        'Crane hour  105.00   hour',
        '',
        'Ship       Captain',
        '---------  -------',
        'Amalia     Brandt',
        'Nordstern  Holm',
        '',
        'Year\tTons',
        '2024\t12',
        '2025\t14',
        'The end.',
      ),
    ).toEqual([
      'Fees of the harbour',
      'Item: Mooring; Price: 12.00; Unit: day',
      'Item: Crane hour; Price: 105.00; Unit: hour',
      'Ship: Amalia; Captain: Brandt',
      'Ship: Nordstern; Captain: Holm',
      'Year: 2024; Tons: 12',
      'Year: 2025; Tons: 14',
      'The end.',
    ])
  })

  it('is not made of labels, verses or logs', async () => {
    const given = [
      'Name:     Ada\nBorn:     1815\nDied:     1852',
      'roses are  red\nviolets    blue\nand on     it goes',
      '2026-01-01  12:00  start\n2026-01-02  12:01  stop\n2026-01-03  12:02  start',
    ]
    for (const one of given) expect(await text(one)).toEqual([one])
  })
})

describe('the header of a table', () => {
  it('can be years, in each format', async () => {
    const rows = ['Product: Pumps; 2023: 118; 2024: 131', 'Product: Valves; 2023: 64; 2024: 59']
    expect(
      await sheet([
        ['Product', 2023, 2024],
        ['Pumps', 118, 131],
        ['Valves', 64, 59],
      ]),
    ).toEqual(rows)
    expect(await csv('Product,2023,2024\nPumps,118,131\nValves,64,59\n')).toEqual(rows)
    const html = '<table><tr><td>Product<td>2023<td>2024<tr><td>Pumps<td>118<td>131<tr><td>Valves<td>64<td>59</table>'
    expect(await read('page.html', html)).toEqual(rows)
  })

  it('is not invented where the first line is data', async () => {
    expect(await csv('Reception,Ms Adler\nWorkshop,Mr Binder\nGate,Mr Dahl\n')).toEqual([
      'Reception; Ms Adler',
      'Workshop; Mr Binder',
      'Gate; Mr Dahl',
    ])
    expect(await csv('2021,Pump\n2022,Valve\n2023,Hose\n')).toEqual(['2021; Pump', '2022; Valve', '2023; Hose'])
    expect(await csv('bolt,ana@example.com\nnut,bo@example.com\nnail,cy@example.com\n')).toEqual([
      'bolt; ana@example.com',
      'nut; bo@example.com',
      'nail; cy@example.com',
    ])
  })

  it('can be years beside an empty corner', async () => {
    const below = ['Sales; 2023: 118; 2024: 131', 'Costs; 2023: 64; 2024: 59']
    expect(await csv(',2023,2024\nSales,118,131\nCosts,64,59\n')).toEqual(below)
  })

  it('names the row in each part of a wide one', async () => {
    const columns = Array.from({ length: 90 }, (_, index) => index + 1)
    const [first, second, ...others] = await csv(
      [
        ['Town', ...columns.map((column) => `Column ${column}`)],
        ['Kiel', ...columns.map((column) => `value ${column}`)],
        ['Oslo', ...columns],
      ]
        .map((row) => row.join(','))
        .join('\n'),
    )
    expect(first).toMatch(/^Town: Kiel; Column 1: value 1; /)
    expect(second).toMatch(/^Town: Kiel; Column \d+: /)
    expect([first, second, ...others].join('; ')).toContain('Column 90: value 90')
    expect(others.at(-1)).toMatch(/^Town: Oslo; .*Column 90: 90$/)
  })

  it('leaves each row its number', async () => {
    const rows = [['Name', 'Office'], ['Ada', '2.14'], [], ['Bo', '2.15']]
    expect(await numbers('book.xlsx', xlsx([{ name: 'Staff', rows }]))).toEqual(['Staff 2', 'Staff 4'])
    expect(await numbers('rows.csv', 'Name,Office\nAda,2.14\n\nBo,2.15\n')).toEqual([' 2', ' 4'])
  })

  it('is found below the lines that an export begins with, which stay', async () => {
    const lines = ['"Account";"DE00 1234"', '"From 01.02. to 28.02."', '', '"Booked";"Payee";"Amount"']
    const data = ['"03.02.";"Printing house";"-1.204,55"', '"11.02.";"City council";"7.500,00"']
    expect(await csv([...lines, ...data].join('\r\n'))).toEqual([
      'Account; DE00 1234',
      'From 01.02. to 28.02.',
      'Booked: 03.02.; Payee: Printing house; Amount: -1.204,55',
      'Booked: 11.02.; Payee: City council; Amount: 7.500,00',
    ])
  })

  it('of two rows names each column by both', async () => {
    const rows = [
      ['Branch', '2024', undefined, '2025', undefined],
      [undefined, 'Sales', 'Costs', 'Sales', 'Costs'],
      ['Oslo', 10, 7, 12, 8],
      ['Bergen', 20, 11, 22, 13],
    ]
    expect(await sheet(rows, { merged: ['A1:A2', 'B1:C1', 'D1:E1'] })).toEqual([
      'Branch: Oslo; 2024 Sales: 10; 2024 Costs: 7; 2025 Sales: 12; 2025 Costs: 8',
      'Branch: Bergen; 2024 Sales: 20; 2024 Costs: 11; 2025 Sales: 22; 2025 Costs: 13',
    ])
  })

  it('may have an empty corner, or name fewer columns than there are', async () => {
    expect(await csv(',Oslo,Bergen\nSales,10,20\nCosts,7,11\n')).toEqual([
      'Sales; Oslo: 10; Bergen: 20',
      'Costs; Oslo: 7; Bergen: 11',
    ])
    expect(await csv('Name,Office\nAda,2.14,9\nBo,2.15,8\n')).toEqual([
      'Name: Ada; Office: 2.14; 9',
      'Name: Bo; Office: 2.15; 8',
    ])
  })

  it('is content where nothing follows', async () => {
    expect(await csv('Name,Office\n')).toEqual(['Name; Office'])
  })

  it('is kept where nothing stands below a name', async () => {
    expect(await csv('Ship,Tons,Berth\nAmalia,1180,\nNordstern,960,\nLuise,720,\n')).toEqual([
      'Ship: Amalia; Tons: 1180',
      'Ship: Nordstern; Tons: 960',
      'Ship: Luise; Tons: 720',
      'Berth',
    ])
  })
})

describe('a merged cell repeats its value', () => {
  const rows = [
    'City: Lisbon; Grade: Director; Meals: 95',
    'City: Lisbon; Grade: Clerk; Meals: 70',
    'City: Interns; Grade: Interns; Meals: 40',
  ]

  it('in a workbook', async () => {
    const cells = [
      ['City', 'Grade', 'Meals'],
      ['Lisbon', 'Director', 95],
      [undefined, 'Clerk', 70],
      ['Interns', undefined, 40],
    ]
    expect(await sheet(cells, { merged: ['A2:A3', 'A4:B4'] })).toEqual(rows)
  })

  it('on a page', async () => {
    const html = `<table><tr><th>City<th>Grade<th>Meals</tr><tr><td rowspan="2">Lisbon</td><td>Director<td>95</tr>
      <tr><td>Clerk<td>70</tr><tr><td colspan=2>Interns<td>40</tr></table>`
    expect(await read('page.html', html)).toEqual(rows)
  })

  it('in a Word document', async () => {
    const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`
    const lines = [
      cell('City') + cell('Grade') + cell('Meals'),
      cell('Lisbon', '<w:vMerge w:val="restart"/>') + cell('Director') + cell('95'),
      cell('', '<w:vMerge/>') + cell('Clerk') + cell('70'),
      cell('Interns', '<w:gridSpan w:val="2"/>') + cell('40'),
    ]
    expect(
      await read('a.docx', docx(`<w:tbl><w:tblGrid/>${lines.map((line) => `<w:tr>${line}</w:tr>`).join('')}</w:tbl>`)),
    ).toEqual(rows)
  })

  it('a title across the table is not one of its names', async () => {
    const cells = [
      ['Budget of the harbour', undefined, undefined],
      ['Item', 'Plan', 'Spent'],
      ['Crane', 40, 38],
      ['Quay', 70, 81],
    ]
    expect(await sheet(cells, { merged: ['A1:C1'] })).toEqual([
      'Budget of the harbour',
      'Item: Crane; Plan: 40; Spent: 38',
      'Item: Quay; Plan: 70; Spent: 81',
    ])
  })
})

describe('values of a workbook', () => {
  it('are as they are stored: long numbers, dates as ISO 8601, amounts with their unit', async () => {
    const formats = ['dd.mm.yy', 'm/d/yy h:mm', '0%', '#,##0.00 "EUR"', '00000', 'h:mm']
    const rows: Sheet['rows'] = [
      ['Article', 'Value'],
      ['EAN', 4006381333931],
      ['Account', 998877665544332],
      ['Sum', 0.1 + 0.2],
      ['IBAN', 'DE89370400440532013000'],
      ['Number', '007'],
      ['Due', { value: 46085, format: 0 }],
      ['Reported', { value: 46085.5625, format: 1 }],
      ['Share', { value: 0.12, format: 2 }],
      ['Fee', { value: 1234.5, format: 3 }],
      ['Postcode', { value: 1067, format: 4 }],
      ['Opens', { value: 0.375, format: 5 }],
    ]
    const texts = (await read('book.xlsx', xlsx([{ name: 'S', rows }], { formats }))).slice(1)
    expect(texts.map((text) => text.replace(/^Article: (.*); Value: /, '$1 ').trim())).toEqual([
      'EAN 4006381333931',
      'Account 998877665544332',
      'Sum 0.3',
      'IBAN DE89370400440532013000',
      'Number 007',
      'Due 2026-03-04',
      'Reported 2026-03-04 13:30',
      'Share 12%',
      'Fee 1,234.50 EUR',
      'Postcode 01067',
      'Opens 09:00',
    ])
  })

  it('are dates by the system of the workbook', async () => {
    const rows: Sheet['rows'] = [
      ['Task', 'Due'],
      ['Drill', { value: 44623, format: 0 }],
    ]
    const book = xlsx([{ name: 'S', rows }], { formats: ['d.m.yyyy'], date1904: true })
    expect(await read('book.xlsx', book)).toContain('Task: Drill; Due: 2026-03-04')
  })

  it('say what is a formula without a value, and what is hidden', async () => {
    const order = {
      name: 'Order',
      rows: [
        ['Item', 'Sum'],
        ['Bolts', { formula: 'B2*C2' }],
        ['Nuts', 7],
      ],
      hiddenRows: [3],
    }
    const salaries = {
      name: 'Salaries',
      rows: [
        ['Name', 'Salary'],
        ['Ada', 5120],
      ],
      isHidden: true,
    }
    expect(await read('book.xlsx', xlsx([order, salaries]))).toEqual([
      'Order',
      'Item: Bolts; Sum: =B2*C2 (formula, its value is not stored)',
      'Item: Nuts; Sum: 7; (hidden row)',
      'Salaries (hidden sheet)',
      'Name: Ada; Salary: 5120',
    ])
    const bonus = {
      name: 'Bonus',
      rows: [
        ['Name', 'Bonus', 'Year'],
        ['Bo', 300, 2025],
      ],
      hiddenColumns: [2],
    }
    expect(await read('book.xlsx', xlsx([order, salaries, bonus]), { readsHidden: false })).toEqual([
      'Order',
      'Item: Bolts; Sum: =B2*C2 (formula, its value is not stored)',
      'Bonus',
      'Name: Bo; Year: 2025',
    ])
  })
})

describe('other texts', () => {
  it('keep all digits of numbers in JSON, at any depth', async () => {
    const json = '{"orders": [{"id": 9007199254740993, "total": 15.00, "rate": 1e3}]}'
    expect(await read('orders.json', json)).toEqual([
      'orders.0.id: 9007199254740993\norders.0.total: 15.00\norders.0.rate: 1e3',
    ])
    expect(await read('orders.jsonl', '{"id": 1234567890123456789}\n')).toEqual(['id: 1234567890123456789'])
    const deep = `${'['.repeat(20_000)}7${']'.repeat(20_000)}`
    expect((await read('deep.json', deep)).join('')).toMatch(/: 7$/)
  })

  it('are no pictures or films because of their first letters', async () => {
    for (const text of [
      'BMW is built in Munich.',
      'The wide gate is closed.',
      'BM',
      'GIF89a is a format.',
      'MZ is a code.',
    ])
      expect(await read('note.txt', text)).toEqual([text])
  })
})

/** The bytes of a text whose characters an encoding writes in one byte. */
function encoded(charset: string, text: string): Buffer {
  const codes = new Map(
    Array.from({ length: 256 }, (_, byte) => [new TextDecoder(charset).decode(new Uint8Array([byte])), byte]),
  )
  return Buffer.from(Array.from(text, (character) => codes.get(character) ?? 0x3f))
}

describe('rows of text', () => {
  it('are split by what the first line names, or by what most lines agree on', async () => {
    expect(await csv('\ufeffsep=;\r\nPlant;Height\r\nOak;31,5\r\nBirch;18,2\r\n')).toEqual([
      'Plant: Oak; Height: 31,5',
      'Plant: Birch; Height: 18,2',
    ])
    expect(await csv('Plant;Height\nOak;31,5\nBirch;18,2\nElm;9,9\n')).toContain('Plant: Elm; Height: 9,9')
    expect(await csv('Plant|Note\nOak|old, tall\nElm|ill; felled\n')).toContain('Plant: Elm; Note: ill; felled')
  })

  it('are all there behind a quote that does not end', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => `Ship ${index},"two\nlines"`)
    const found = await csv(['Name,Note', ...rows, 'Ship x,"open', 'Ship 100,1', 'Ship 101,1', 'Ship 102,1'].join('\n'))
    expect(found.join('\n').match(/Ship \w+/g)).toEqual([
      ...Array.from({ length: 100 }, (_, index) => `Ship ${index}`),
      'Ship x',
      'Ship 100',
      'Ship 101',
      'Ship 102',
    ])
  })

  it('may be what Excel calls Unicode text', async () => {
    const bytes = Buffer.from('\ufeffName\tOrt\tBeitrag\r\nJörg\tKöln\t12,50\r\nZoë\tLiège\t9,90\r\n', 'utf16le')
    expect(await read('members.csv', bytes)).toEqual([
      'Name: Jörg; Ort: Köln; Beitrag: 12,50',
      'Name: Zoë; Ort: Liège; Beitrag: 9,90',
    ])
  })

  it.each([
    ['windows-1250', 'Imię;Kwota\nŁukasz;120\nŚwięta;95\nŻółty;77\n', 'Imię: Łukasz; Kwota: 120'],
    ['windows-1250', 'Jméno;Město\nJiří Dvořák;Plzeň\nŠárka Černá;Děčín\n', 'Jméno: Šárka Černá; Město: Děčín'],
    ['windows-1250', 'Név;Város\nKőszegi Ödön;Győr\nSzűcs Győző;Gödöllő\n', 'Név: Szűcs Győző; Város: Gödöllő'],
    ['windows-1252', 'Straße;Größe\nKüchenstraße;fünf\nBäckergasse;drei\n', 'Straße: Küchenstraße; Größe: fünf'],
    ['windows-1252', 'Prénom;Ville\nAndré;Nîmes\nZoé;Besançon\n', 'Prénom: Zoé; Ville: Besançon'],
    [
      'windows-1251',
      'Имя;Город\nОрлова Анна;Самара\nПётр Гусев;Казань\nИван Белов;Москва\n',
      'Имя: Иван Белов; Город: Москва',
    ],
  ])('are read in the encoding %s: %s', async (charset, text, row) => {
    expect(await read('rows.csv', encoded(charset, text))).toContain(row)
  })

  it('are read in code page 850 and in Shift_JIS', async () => {
    const german = Buffer.from('Stra\xe1e;Gr\x94\xe1e\nK\x81chenstra\xe1e;f\x81nf\nB\x84ckergasse;drei\n', 'latin1')
    expect(await read('rows.csv', german)).toContain('Straße: Küchenstraße; Größe: fünf')
    const japanese = Buffer.from('89ef8b638ebe82cc975c96f182cd8e4f93fa914f82dc82c582c582b78142', 'hex')
    expect(await read('note.txt', japanese)).toEqual([new TextDecoder('shift_jis').decode(japanese)])
  })

  it('are read in an encoding that shows only after a megabyte', async () => {
    const plain = 'Ship;Captain\n' + 'Amalia;Brandt\n'.repeat(40_000)
    const bytes = Buffer.concat([Buffer.from(plain), encoded('windows-1252', 'Möwe;Größler\n'), Buffer.from(plain)])
    expect(await read('rows.csv', bytes)).toContain('Ship: Möwe; Captain: Größler')
  })
})
