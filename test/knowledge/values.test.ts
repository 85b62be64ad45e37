import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { extractBlocks } from '../../infra/extract/extract-blocks.ts'
import { type Sheet, docx, paragraph, xlsx } from '../support/office-files.ts'
import { zip } from '../support/zip.ts'

/** Values that went astray in files as people have them: what each row says must stand below its own names. */

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'values-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function blocks(name: string, data: string | Buffer) {
  const file = path.join(folder, 'given')
  await writeFile(file, data)
  const found = []
  for await (const block of extractBlocks(file, name)) found.push({ ...block, text: block.text.trim() })
  return found
}
const read = async (name: string, data: string | Buffer) => (await blocks(name, data)).map(({ text }) => text)
const sheet = async (rows: Sheet['rows'], more: Partial<Sheet> = {}, formats: string[] = []) =>
  (await read('book.xlsx', xlsx([{ name: 'Sheet', rows, ...more }], { formats }))).slice(1)
const csv = (text: string) => read('rows.csv', text)
const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`
const wordTable = (rows: string[][], properties: (row: number) => string = () => '') =>
  `<w:tbl><w:tblGrid/>${rows.map((cells, row) => `<w:tr><w:trPr>${properties(row)}</w:trPr>${cells.join('')}</w:tr>`).join('')}</w:tbl>`

describe('two tables on a sheet', () => {
  const fruit = [
    ['Fruit', 'Price'],
    ['Apple', 1.2],
    ['Pear', 1.4],
  ]

  it('have each its own names and title', async () => {
    const rows = [...fruit, [], ['Staff of the shop'], ['Person', 'Room'], ['Ada', 214], ['Bo', 215]]
    const found = await blocks('book.xlsx', xlsx([{ name: 'S', rows }]))
    expect(found.map(({ text }) => text).slice(1)).toEqual([
      'Fruit: Apple; Price: 1.2',
      'Fruit: Pear; Price: 1.4',
      'Staff of the shop',
      'Person: Ada; Room: 214',
      'Person: Bo; Room: 215',
    ])
    expect(found.at(-1)).toMatchObject({ caption: 'Staff of the shop', row: 8 })
  })

  it('beside each other have each its own names, where those stand in different rows', async () => {
    const people = [
      ['Person', 'Room'],
      ['Ada', 214],
      ['Bo', 215],
    ]
    const beside = fruit.map((row, index) => [...row, undefined, ...(people[index - 1] ?? [])])
    const rows = [...beside, [undefined, undefined, undefined, ...(people[2] ?? [])]]
    expect(await sheet(rows)).toEqual([
      'Fruit: Apple; Price: 1.2',
      'Fruit: Pear; Price: 1.4',
      'Person: Ada; Room: 214',
      'Person: Bo; Room: 215',
    ])
    const totals = [
      ['Total', 26],
      ['Mean', 13],
    ]
    const list = [
      ['Day', 'Guests'],
      ['2025-03-01', 12],
      ['2025-03-02', 14],
    ]
    expect(await sheet(list.map((row, index) => [...row, undefined, ...(totals[index] ?? [])]))).toEqual([
      'Day: 2025-03-01; Guests: 12',
      'Day: 2025-03-02; Guests: 14',
      'Total: 26',
      'Mean: 13',
    ])
  })

  it('beside each other stay one where an empty column only parts amounts of the same rows', async () => {
    const rows = [
      ['Harbour', 'Unit', undefined, 'May', 'June', undefined, 'July', 'August'],
      [undefined, undefined, undefined, undefined, undefined, undefined, 'plan', 'plan'],
      ['North', 'EUR', undefined, 10, 12, undefined, 14, 15],
      ['South', 'EUR', undefined, 20, 22, undefined, 24, 25],
    ]
    expect((await sheet(rows)).at(-1)).toContain('Harbour: South; Unit: EUR; May: 20; June: 22; July')
  })

  it('below each other have each its own names, also right of an empty corner', async () => {
    const rows = [
      [undefined, '2023', '2024'],
      ['Revenue', 10, 12],
      ['Cost', 8, 9],
      [],
      [undefined, 'May', 'June'],
      ['Guests', 100, 90],
    ]
    expect(await sheet(rows)).toEqual([
      'Revenue; 2023: 10; 2024: 12',
      'Cost; 2023: 8; 2024: 9',
      'Guests; May: 100; June: 90',
    ])
  })

  it('are told beyond the rows that are looked at first', async () => {
    const many = Array.from({ length: 30 }, (_, index) => [`Fruit ${index}`, index])
    const rows = [['Fruit', 'Price'], ...many, [], ['Person', 'Room'], ['Ada', 214], ['Bo', 215]]
    expect((await sheet(rows)).slice(-2)).toEqual(['Person: Ada; Room: 214', 'Person: Bo; Room: 215'])
    const text = rows.map((row) => row.join(';')).join('\n')
    expect((await csv(text)).slice(-2)).toEqual(['Person: Ada; Room: 214', 'Person: Bo; Room: 215'])
  })

  it('are one where the rows behind an empty one go on', async () => {
    expect(await sheet([...fruit, [], ['Plum', 1.1], ['Quince', 2.5]])).toContain('Fruit: Quince; Price: 2.5')
    expect(await sheet([...fruit, [], ['Plum', 'n/a'], ['Quince', 2.5]])).toEqual([
      'Fruit: Apple; Price: 1.2',
      'Fruit: Pear; Price: 1.4',
      'Fruit: Plum; Price: n/a',
      'Fruit: Quince; Price: 2.5',
    ])
    expect(await sheet([...fruit, [], ['Sum', 2.6]])).toContain('Fruit: Sum; Price: 2.6')
  })

  it('are followed by remarks, which are no values', async () => {
    expect((await sheet([...fruit, [], ['Source: market of the harbour']])).at(-1)).toBe(
      'Source: market of the harbour',
    )
    expect(
      (await csv('Day;Text;Sum\n1.2.;Fee;-3,00\n2.2.;Gift;4,00\n\nNotice:\nNo signature is needed.\n')).slice(-2),
    ).toEqual(['Notice:', 'No signature is needed.'])
  })
})

describe('names of columns', () => {
  it('are of two rows in a table of Word, marked or not', async () => {
    const rows = [
      [cell('Region', '<w:vMerge w:val="restart"/>'), cell('2025', '<w:gridSpan w:val="2"/>')],
      [cell('', '<w:vMerge/>'), cell('First half'), cell('Second half')],
      [cell('North'), cell('10'), cell('20')],
      [cell('South'), cell('11'), cell('21')],
    ]
    const expected = [
      'Region: North; 2025 First half: 10; 2025 Second half: 20',
      'Region: South; 2025 First half: 11; 2025 Second half: 21',
    ]
    const marked = wordTable(rows, (row) => (row < 2 ? '<w:tblHeader/>' : ''))
    expect(await read('a.docx', docx(marked))).toEqual(expected)
  })

  it('have their units', async () => {
    expect(await csv('Place;Warmth;Rain\n;°C;mm\nOslo;5,7;763\nBergen;7,6;2250\n')).toEqual([
      'Place: Oslo; Warmth °C: 5,7; Rain mm: 763',
      'Place: Bergen; Warmth °C: 7,6; Rain mm: 2250',
    ])
  })

  it('are not what a table of facts begins with', async () => {
    const facts = [
      ['Partner', 'Northwind Ltd'],
      ['Term', '24 months'],
      ['Price', '1.250,00 EUR'],
      ['Notice', '3 months'],
    ]
    const expected = facts.map(([label, value]) => `${label}: ${value}`)
    expect(await read('a.docx', docx(wordTable(facts.map((row) => row.map((text) => cell(text))))))).toEqual(expected)
    const html = (tag: string) =>
      `<table>${facts.map(([label, value]) => `<tr><${tag}>${label}</${tag}><td>${value}</td></tr>`).join('')}</table>`
    expect(await read('page.html', html('td'))).toEqual(expected)
    expect(await read('page.html', html('th'))).toEqual(expected)
  })

  it('are in the first row where a page says so, and rows have names beside them', async () => {
    const html =
      '<table><tr><td></td><td>2024</td><td>2025</td></tr><tr><th>Sales</th><td>10</td><td>20</td></tr><tr><th>Costs</th><td>7</td><td>11</td></tr></table>'
    expect(await read('page.html', html)).toEqual(['Sales; 2024: 10; 2025: 20', 'Costs; 2024: 7; 2025: 11'])
    const named =
      '<table><tr><th>Key</th><th>Value</th></tr><tr><td>Term</td><td>24 months</td></tr><tr><td>Fee</td><td>5 EUR</td></tr></table>'
    expect(await read('page.html', named)).toEqual(['Key: Term; Value: 24 months', 'Key: Fee; Value: 5 EUR'])
  })

  it('have the signs of currencies beside their numbers', async () => {
    const row = (cells: string[]) => `<tr>${cells.map((text) => `<td>${text}</td>`).join('')}</tr>`
    const head = '<tr><td></td><td colspan="3">2025</td><td colspan="3">2024</td></tr>'
    const rows = [
      ['Income', '$', '480.3', '', '$', '410.9', ''],
      ['Costs', '', '(604.1', ')', '', '(580.0', ')'],
      ['Margin', '', '39.9', '%', '', '37.3', '%'],
    ]
    expect(await read('report.html', `<table>${head}${rows.map(row).join('')}</table>`)).toEqual([
      'Income; 2025: $480.3; 2024: $410.9',
      'Costs; 2025: (604.1); 2024: (580.0)',
      'Margin; 2025: 39.9%; 2024: 37.3%',
    ])
  })

  it('are no fields of a form', async () => {
    expect(
      await sheet([
        ['Name:', 'Marit', undefined, 'Date:', '4 March'],
        ['Account:', 'NO9386011117947'],
      ]),
    ).toEqual(['Name: Marit; Date: 4 March', 'Account: NO9386011117947'])
  })

  it('say that a column is hidden', async () => {
    const rows = [
      ['Name', 'Salary'],
      ['Ada', 5120],
      ['Bo', 4870],
    ]
    expect(await sheet(rows, { hiddenColumns: [2] })).toEqual([
      'Name: Ada; Salary (hidden column): 5120',
      'Name: Bo; Salary (hidden column): 4870',
    ])
  })

  it('have their comments once', async () => {
    const rows = [
      ['Name', 'Salary (comment: without bonus)'],
      ['Ada', 5120],
      ['Bo', 4870],
    ]
    expect(await sheet(rows)).toEqual([
      'Salary (comment: without bonus)',
      'Name: Ada; Salary: 5120',
      'Name: Bo; Salary: 4870',
    ])
  })

  it('may have bars in tables of Markdown', async () => {
    expect(await read('a.md', '| A | B \\| C |\n|---|---|\n| 1 | x \\| y |\n')).toEqual(['A: 1; B | C: x | y'])
  })
})

describe('numbers of a workbook', () => {
  it.each([
    ['0%', 0.0725, '7.25%'],
    ['0%', 0.12, '12%'],
    ['0.0%', 1 / 3, '33.33%'],
    ['0', 1234.56, '1234.56'],
    ['$#,##0', 1234.567, '$1,234.567'],
    ['0.00', 1.08765, '1.08765'],
    ['0.00', 100 / 3, '33.33'],
    ['#,##0', 2000 / 3, '666.67'],
    ['#,##0.0,,"M"', 12_345_678, '12345678 (12.3M)'],
    [';;;', 42, '42'],
    ['"Ja";;"Nein"', 1, 'Ja'],
    ['# ?/?', 0.75, '3/4'],
    ['000-00-0000', 123_456_789, '123-45-6789'],
    ['0;(0)', -5, '(5)'],
    ['[h]:mm', 1.5, '36:00'],
  ])('in the format %s: %s', async (format, value, text) => {
    expect(
      await sheet(
        [
          ['Kind', 'Value'],
          ['One', { value, format: 0 }],
          ['Two', 'x'],
        ],
        {},
        [format],
      ),
    ).toContain(`Kind: One; Value: ${text}`)
  })

  it('that an export guards are read without the guard', async () => {
    expect(await csv('Account;Sum\n="007";1,00\n="CH9300762011623852957";2,00\n')).toEqual([
      'Account: 007; Sum: 1,00',
      'Account: CH9300762011623852957; Sum: 2,00',
    ])
  })
})

describe('letters', () => {
  it('of the font of signs are those that are drawn', async () => {
    const sign = (code: string) => `<w:r><w:sym w:font="Symbol" w:char="${code}"/></w:r>`
    const run = '<w:r><w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr><w:t>\uf0b1</w:t></w:r>'
    const text = (letters: string) => `<w:r><w:t xml:space="preserve">${letters}</w:t></w:r>`
    const word = docx(`<w:p>${sign('F06D')}${text('m ')}${run}${text('5 ')}${sign('F0B0')}${text('C')}</w:p>`)
    expect(await read('a.docx', word)).toEqual(['μm ±5 °C'])
    const rtf =
      "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}{\\f1\\fnil\\fcharset2 Symbol;}}A width of 5 {\\f1 m}m {\\f1\\'b1}1 m\\par}"
    expect(await read('a.rtf', rtf)).toEqual(['A width of 5 μm ±1 m'])
  })

  it('of the choice in an old form are shown', async () => {
    const list = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Bergen"/><w:listEntry w:val="Oslo"/></w:ddList>'
    const field = `<w:r><w:t xml:space="preserve">City: </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"><w:ffData>${list}</w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
    expect(await read('a.docx', docx(`<w:p>${field}</w:p>`))).toEqual(['City: Oslo'])
  })

  it('are those of the encoding, in tables without a sentence', async () => {
    const taiwan = Buffer.from(
      'a4e9b4c12cba4bad6e2caaf7c3420d0a323032362d30312d30352cb971b64f2c2d313238340d0a323032362d30312d32352cc17eb8eaa44ab1622c35323030300d0a',
      'hex',
    )
    expect(await read('rows.csv', taiwan)).toContain('日期: 2026-01-05; 摘要: 電費; 金額: -1284')
    const latin9 = Buffer.from('Ville;Prix\nOrl\xe9ans;12 \xa4\n\xbcuilly;9 \xa4\nN\xeemes;7 \xa4\n', 'latin1')
    expect(await read('rows.csv', latin9)).toContain('Ville: Œuilly; Prix: 9 €')
    const mac = Buffer.from('Pr\x8enom;Ville\r\x83lodie;Orl\x8eans\rJ\x8er\x99me;N\x94mes\r', 'latin1')
    expect(await read('rows.csv', mac)).toContain('Prénom: Élodie; Ville: Orléans')
  })

  it('of names in archives are those of the console of Windows', async () => {
    const archive = zip([{ name: 'Kxln.txt', data: Buffer.from('The code is 3333.') }])
    for (let at = archive.indexOf('Kxln'); at >= 0; at = archive.indexOf('Kxln', at + 1)) archive[at + 1] = 0x94
    expect(await read('a.zip', archive)).toContain('Köln.txt')
  })
})

describe('values of other formats', () => {
  it('of XML are named by their elements', async () => {
    const xml =
      '<?xml version="1.0"?><Invoice xmlns:c="urn:x"><c:ID>RE-4711</c:ID><c:Line><c:Quantity unitCode="C62">3</c:Quantity><c:Amount currencyID="EUR">149.97</c:Amount></c:Line><c:Due date="2026-03-04"/></Invoice>'
    expect(await read('invoice.xml', xml)).toEqual([
      'ID: RE-4711',
      'Quantity: 3 (unitCode C62)',
      'Amount: 149.97 (currencyID EUR)',
      'Due: date 2026-03-04',
    ])
    const book =
      '<book><chapter><title>Tides</title><para>The sea <emph>rises</emph> twice a day.</para></chapter></book>'
    expect((await read('book.xml', book)).join(' ')).toBe('Tides The sea rises twice a day.')
  })

  it('that a page or a mail does not show are left out', async () => {
    const html = '<p style="color:red; display: none">A trap</p><p>The gate code is 5120.</p>'
    expect(await read('page.html', html)).toEqual(['The gate code is 5120.'])
  })
})

describe('a sheet of facts', () => {
  it('has labels and their values, and no names of columns', async () => {
    const rows = [['Tenant', 'Ada Byron'], ['Boat', 'Difference'], ['Length', 9.4], ['Since']]
    expect(await sheet(rows)).toEqual(['Tenant: Ada Byron', 'Boat: Difference', 'Length: 9.4', 'Since'])
    expect(
      await sheet([
        ['Total', 26],
        ['Mean', 13],
      ]),
    ).toEqual(['Total: 26', 'Mean: 13'])
  })

  it('is none where a column holds values of one kind', async () => {
    const rows = [
      ['Question', 'Answer'],
      ['When is high tide?', 'At four.'],
      ['What is a berth?', 'A place.'],
    ]
    expect((await sheet(rows))[0]).toBe('Question: When is high tide?; Answer: At four.')
  })
})
