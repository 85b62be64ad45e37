import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { utils, write } from '@e965/xlsx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { type Reading, extractBlocks } from '../../infra/extract/extract-blocks.ts'
import { docx, paragraph, xlsx } from '../support/office-files.ts'
import { zip } from '../support/zip.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'containers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Headings with their level before them. */
async function read(name: string, data: Buffer | string, reading: Reading = {}): Promise<string[]> {
  const file = path.join(folder, 'given')
  await writeFile(file, data)
  const texts: string[] = []
  for await (const block of extractBlocks(file, name, reading))
    texts.push(block.kind === 'heading' ? `${block.level} ${block.text}` : block.text.trim())
  return texts
}

const lease = docx(paragraph('The lease ends in May.'))
const lines = (...all: string[]) => all.join('\r\n')

describe('a mail', () => {
  const attached = lines(
    '--zz',
    'Content-Type: application/octet-stream; name="lease.docx"',
    'Content-Disposition: attachment; filename="lease.docx"',
    'Content-Transfer-Encoding: base64',
    '',
    lease.toString('base64').replace(/.{76}/g, '$&\r\n'),
    '--zz',
    'Content-Type: image/png; name="photo.png"',
    'Content-Disposition: attachment; filename="photo.png"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64'),
    '--zz--',
  )
  const head = lines(
    'From: Ina Example <ina@example.com>',
    'To: team@example.com',
    'Subject: =?utf-8?B?TGllZmVydW5nIGRlciBTdMO8aGxl?=',
    'Date: Mon, 07 Sep 2026 09:12:00 +0200',
    'MIME-Version: 1.0',
  )

  it('is read with its decoded parts, and its attachments as files of their own', async () => {
    const text = lines(
      '--zz',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Die K=C3=BCche ist f=',
      '=C3=A4llig.',
    )
    const mail = lines(head, 'Content-Type: multipart/mixed; boundary="zz"', '', text, attached)
    expect(await read('offer.eml', mail)).toEqual([
      '1 Lieferung der Stühle',
      'From: Ina Example <ina@example.com>\nTo: team@example.com\nDate: Mon, 07 Sep 2026 09:12:00 +0200',
      'Die Küche ist fällig.',
      '2 lease.docx',
      'The lease ends in May.',
      '2 photo.png',
      '(not read: photo.png. This file is image/png, which holds no text that can be read.)',
    ])
  })

  it('has its aligned columns as rows', async () => {
    const body = lines('Prices:', 'Item         Price', 'Mooring      12.00', 'Crane hour  105.00', '', 'Name:   Ina')
    expect((await read('a.eml', lines(head, '', body))).slice(2)).toEqual([
      'Prices:',
      'Item: Mooring; Price: 12.00',
      'Item: Crane hour; Price: 105.00',
      'Name:   Ina',
    ])
  })

  it('begins with the newest text, and keeps answers between quoted lines', async () => {
    const body = (...all: string[]) => read('a.eml', lines(head, '', ...all))
    expect((await body('Bo wrote:', '> What does it cost?', '', 'It costs 4,711 EUR.')).at(-1)).toMatch(
      /^It costs 4,711 EUR\.\s+Bo wrote:\s+> What/,
    )
    expect((await body('> How long?', 'Two days.', '> How much?', 'Nothing.')).at(-1)).toMatch(
      /^> How long\?\s+Two days/,
    )
  })

  it('of Outlook is read like others', async () => {
    const data = await readFile(path.join(import.meta.dirname, 'fixtures', 'offer.msg'))
    expect(await read('offer.msg', data)).toEqual([
      '1 Offer for the crané',
      'From: Ina Example <ina@example.com>\nTo: Bo <bo@example.com>\nDate: Mon, 07 Sep 2026 07:12:00 GMT',
      'The crane costs 4,711 EUR.',
      '2 ships.csv',
      'Ship: Amalia; Tons: 1180; Captain: Brandt',
      'Ship: Nordstern; Tons: 960; Captain: Øver;gård',
    ])
  })

  it('of HTML alone is read as a page', async () => {
    const mail = lines(head, 'Content-Type: text/html; charset=utf-8', '', '<h1>News</h1><p>The gate code is 5120.</p>')
    expect((await read('a.eml', mail)).slice(-2)).toEqual(['1 News', 'The gate code is 5120.'])
  })

  it('of a mailbox is a section of it', async () => {
    const one = (number: number) =>
      `From a@example.com Mon Sep  7 09:12:00 2026\nSubject: Mail ${number}\nFrom: a@example.com\n\nText ${number}\n>From here on.\nFrom one shore to the other.\n\n`
    const damaged = `From a@example.com Mon Sep  7 09:12:00 2026\nX-Long: ${'x'.repeat(1_200_000)}\n\nText\n\n`
    expect((await read('box.mbox', one(1) + damaged + one(2))).filter((text) => !text.startsWith('From: '))).toEqual([
      '1 Mail 1',
      'Text 1\nFrom here on.\nFrom one shore to the other.',
      '(not read: a mail of this mailbox. This mail is damaged and cannot be read.)',
      '1 Mail 2',
      'Text 2\nFrom here on.\nFrom one shore to the other.',
    ])
  })
})

describe('an archive', () => {
  const entry = (name: string, text: Buffer | string) => ({ name, data: Buffer.from(text) })

  it('is read file by file, each below its path', async () => {
    const inner = zip([entry('deep.md', '# Deep\n\nText.')])
    const files = [
      entry('b/lease.docx', lease),
      entry('a/notes.txt', 'The code is 7340.'),
      entry('__MACOSX/._x', 'junk'),
      entry('c/inner.zip', inner),
    ]
    expect(await read('files.zip', zip([...files, entry('broken.pdf', '%PDF-1.7 nothing')]))).toEqual([
      '1 a/notes.txt',
      'The code is 7340.',
      '1 b/lease.docx',
      'The lease ends in May.',
      '1 broken.pdf',
      '(not read: broken.pdf. This PDF is damaged and cannot be opened.)',
      '1 c/inner.zip',
      '2 deep.md',
      '3 Deep',
      'Text.',
    ])
  })

  const reasonOf = async (data: Buffer) => {
    try {
      await read('bad.zip', data)
      return 'read'
    } catch (error) {
      return error instanceof UnreadableFile ? error.reason : error
    }
  }

  it('is refused when it unpacks to too much, or holds too many files', async () => {
    const zeros = Buffer.alloc(40 * 1024 * 1024, ' ')
    expect(await reasonOf(zip([entry('a.txt', zeros), entry('b.txt', zeros)]))).toBe('too_large')
    expect(await reasonOf(zip(Array.from({ length: 2100 }, (_, index) => entry(`${index}.txt`, 'x'))))).toBe(
      'too_large',
    )
    expect(await reasonOf(Buffer.from('504b0304140000000800', 'hex'))).toBe('damaged')
  })

  it('is not read deeper than archives in archives in archives', async () => {
    let data = zip([entry('core.txt', 'The core.')])
    for (let depth = 0; depth < 6; depth++) data = zip([entry(`level-${depth}.zip`, data)])
    expect(await read('deep.zip', data)).toEqual([
      '1 level-5.zip',
      '2 level-4.zip',
      '(not read: level-4.zip. This archive is packed too deeply in others.)',
    ])
  })

  it('names a file in it that is protected, and is refused when all are', async () => {
    const isProtected = (data: Buffer) => {
      data.writeUInt16LE(1, data.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 8)
      return data
    }
    const [open, secret] = [entry('a.txt', 'The code is 7340.'), entry('b.txt', 'The code is 9911.')]
    expect(await read('files.zip', isProtected(zip([open, secret])))).toEqual([
      '1 a.txt',
      'The code is 7340.',
      '1 b.txt',
      '(not read: b.txt. This document is protected with a password and cannot be read.)',
    ])
    expect(await reasonOf(isProtected(zip([secret])))).toBe('encrypted')
  })
})

describe('a presentation of another program', () => {
  it('is read in the order of its slides and of what stands on them, with charts, pictures and notes', async () => {
    const data = await readFile(path.join(import.meta.dirname, 'fixtures', 'slides-python-pptx.pptx'))
    expect(await read('slides.pptx', data)).toEqual([
      '1 Second',
      'Point one',
      'Grouped text',
      'Oslo; Sales: 10',
      'Bergen; Sales: 20',
      '1 Harbour plan',
      'Top text',
      'Map of the western basin',
      'Ship: Amalia; Tons: 1180; Captain: Brandt',
      'Ship: Both; Tons: Both; Captain: Holm',
      'Bottom text',
      'Say that it costs 4,711 EUR.',
    ])
  })
})

describe('the comments on a slide', () => {
  it('are read with their authors and replies, by old and new programs', async () => {
    const names =
      'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="r" xmlns:n="n"'
    const links = (...all: [id: string, kind: string, target: string][]) =>
      `<Relationships>${all.map(([id, kind, target]) => `<Relationship Id="${id}" Type="t/${kind}" Target="${target}"/>`).join('')}</Relationships>`
    const body = (text: string) => `<n:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></n:txBody>`
    const files = {
      '[Content_Types].xml':
        '<Types><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>',
      'ppt/presentation.xml': `<p:presentation ${names}><p:sldIdLst><p:sldId id="256" r:id="s"/></p:sldIdLst></p:presentation>`,
      'ppt/_rels/presentation.xml.rels': links(['s', 'slide', 'slides/slide1.xml'], ['a', 'authors', 'authors.xml']),
      'ppt/authors.xml': `<n:authorLst ${names}><n:author id="{1}" name="Ada"/><n:author id="2" name="Bo"/></n:authorLst>`,
      'ppt/slides/slide1.xml': `<p:sld ${names}><p:sp><p:txBody><a:p><a:r><a:t>Rent</a:t></a:r></a:p></p:txBody></p:sp></p:sld>`,
      'ppt/slides/_rels/slide1.xml.rels': links(
        ['c', 'comments', '../comments/c.xml'],
        ['d', 'comments', '../comments/d.xml'],
      ),
      'ppt/comments/c.xml': `<p:cmLst ${names}><p:cm authorId="2"><p:pos x="1"/><p:text>Too high?</p:text></p:cm></p:cmLst>`,
      'ppt/comments/d.xml': `<n:cmLst ${names}><n:cm authorId="{1}"><n:replyLst><n:reply authorId="2">${body('It is.')}</n:reply></n:replyLst>${body('Is it right?')}</n:cm></n:cmLst>`,
    }
    const data = zip(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })))
    expect(await read('rent.pptx', data)).toEqual([
      'Rent',
      '(comment by Bo: Too high?)',
      '(comment by Ada: Is it right?)',
      '(comment by Bo: It is.)',
    ])
  })
})

describe('documents in OpenDocument that odfpy made', () => {
  const fixture = async (name: string) => read(name, await readFile(path.join(import.meta.dirname, 'fixtures', name)))

  it('are texts with numbers of lists, merged cells, notes, comments, text boxes and what stands above each page', async () => {
    expect(await fixture('rent-odfpy.odt')).toEqual([
      'Kopfzeile AG',
      '1 Mietvertrag',
      'Die Miete beträgt 1.250,00 EUR.',
      'Netto kalt, ohne Nebenkosten.',
      '1. Erster Punkt',
      '1.1. Unterpunkt A',
      '2. Zweiter Punkt',
      'Vor\tnach\nneue Zeile   EndeVerweis',
      'Posten: Strom; 2021: 10; 2022: 20',
      'Posten: Strom; 2021: 11; 2022: 21',
      'Posten: Gas; 2021: 30; 2022: 30',
      'Absatz mit Kommentar',
      '(comment by Ina: Bitte prüfen!)',
      'Davor',
      'Text im Kasten',
      'Im Abschnitt',
    ])
  })

  it('are slides from top to bottom below their titles, with tables, descriptions, groups and notes', async () => {
    expect(await fixture('quarters-odfpy.odp')).toEqual([
      '1 Quartal eins',
      'Umsatz 12,5 Mio.',
      'Notiz zu Quartal eins',
      '1 Quartal zwei',
      'Umsatz 13,1 Mio.',
      'Land: DE; Wert: 5',
      'Land: AT; Wert: 6',
      'Foto des Werks in Linz',
      'Form mit Text',
      'In Gruppe',
      'Notiz zu Quartal zwei',
    ])
  })

  it('are workbooks with values as they are stored, their units, and what is hidden', async () => {
    expect(await fixture('budget-odfpy.ods')).toEqual([
      '1 Budget',
      'Posten: Strom; Konto: 004711; Datum: 2025-03-04; Anteil: 12.5%; Betrag: 1234.50 EUR',
      'Posten: Gas; Konto: 4006381333931; Datum: 2025-04-03; Anteil: 20%; Betrag: 99 EUR',
      'Posten: Versteckt; Konto: 1; Datum: 2025-04-03; Anteil: 20%; Betrag: 7 EUR; (hidden row)',
      'Posten: Summe; Betrag: 1333.5',
    ])
  })

  it('write formulas in their line, counts as their list goes on, and repeat a value in few rows of many', async () => {
    const head = 'xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:style="s" xmlns:xlink="x"'
    const made = (mime: string, body: string, others: Record<string, string> = {}) => {
      const content = `<office:document-content ${head}>${body}</office:document-content>`
      const parts = { mimetype: `application/vnd.oasis.opendocument.${mime}`, 'content.xml': content, ...others }
      return zip(Object.entries(parts).map(([name, text]) => ({ name, data: Buffer.from(text) })))
    }
    const open = (kind: string, ...given: Parameters<typeof made>) => read(`a.${kind}`, made(...given))
    const style =
      '<office:automatic-styles><text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="a" style:num-suffix=")"/></text:list-style></office:automatic-styles>'
    const item = (text: string) => `<text:list-item><text:p>${text}</text:p></text:list-item>`
    const list = (more: string, ...items: string[]) =>
      `<text:list text:style-name="L"${more}>${items.join('')}</text:list>`
    const formula = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    const math = '<math><annotation encoding="StarMath 5.0">{ E = m c^2 }</annotation></math>'
    const body = `<office:body><office:text>${list('', item('Oil'), item('Rope'))}<text:p>Then ${formula}holds.</text:p>${list(' text:continue-numbering="true"', item('Tar'))}</office:text></office:body>`
    expect(await open('odt', 'text', style + body, { 'Object 1/content.xml': math })).toEqual([
      'a) Oil',
      'b) Rope',
      'Then  E = m c^2 holds.',
      'c) Tar',
    ])
    const raised =
      '<office:automatic-styles><style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style><style:style style:name="T2"><style:text-properties style:text-position="-33% 58%"/></style:style></office:automatic-styles>'
    const span = (name: string, text: string) => `<text:span text:style-name="${name}">${text}</text:span>`
    const powers = `<office:body><office:text><text:p>10${span('T1', '6')} of CO${span('T2', '2')}, note${span('T1', '1')}, 1${span('T0', '2')}</text:p></office:text></office:body>`
    expect(await open('odt', 'text', raised + powers)).toEqual(['10^6 of CO2, note1, 12'])
    const cells = (...texts: string[]) =>
      texts.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join('')
    const hiding =
      '<office:automatic-styles><style:style style:name="H"><style:table-properties table:display="false"/></style:style></office:automatic-styles>'
    const hidden = ' table:visibility="collapse"'
    const book = `${hiding}<office:body><office:spreadsheet><table:table table:name="Pay"><table:table-column/><table:table-column${hidden}/><table:table-column/><table:table-row>${cells('Name', 'Salary', 'Town')}</table:table-row><table:table-row>${cells('Ada', '5120', 'Linz')}</table:table-row><table:table-row${hidden}>${cells('Bo', '4870', 'Graz')}</table:table-row></table:table><table:table table:name="Old" table:style-name="H"><table:table-row>${cells('Past')}</table:table-row></table:table></office:spreadsheet></office:body>`
    expect(await open('ods', 'spreadsheet', book)).toEqual([
      '1 Pay',
      'Name: Ada; Salary (hidden column): 5120; Town: Linz',
      'Name: Bo; Salary (hidden column): 4870; Town: Graz; (hidden row)',
      '1 Old (hidden sheet)',
      'Past',
    ])
    const seen = await read('a.ods', made('spreadsheet', book), { readsHidden: false })
    expect(seen).toEqual(['1 Pay', 'Name: Ada; Town: Linz'])
    const row =
      '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>'
    const sheet = `<office:body><office:spreadsheet><table:table table:name="S">${row}</table:table></office:spreadsheet></office:body>`
    expect(await open('ods', 'spreadsheet', sheet)).toHaveLength(100)
  })
})

describe('an RTF document', () => {
  it('of LibreOffice has its title, numbers of lists, tables in cells, comments, header and footer', async () => {
    const data = await readFile(path.join(import.meta.dirname, 'fixtures', 'lease-libreoffice.rtf'))
    expect(await read('lease.rtf', data)).toEqual([
      'Contract 4417',
      '1 Lease of the crane',
      '1 Scope',
      '1. The lease covers one crane.',
      '2. It begins in May.',
      '- Oil',
      '- Ropes',
      'Ship: Amalia; Tons: 1180; Captain: Brandt Since; 2019; Until; 2025;',
      'Ship: Nordstern; Tons: 960; Captain: Holm',
      'The rent is due on the first day. It is paid by transfer.',
      '(comment by Ina: Ask the bank.)',
      'Harbour office, room 12',
    ])
  })

  it('has the paragraphs of macOS, words behind a stray mark, first letters with their word, and a row that does not end', async () => {
    const lines = [
      '{\\rtf1 {\\listtext\t1.\t}one\\',
      '{\\listtext\t2.\t}two\\',
      '\\pard\\plain{\\loch\\f2\\*\\cs7 Fox and hen}\\par',
    ]
    const rest = [
      '\\pard\\dropcapli3\\dropcapt1 T\\par\\pard he lease ends.\\par',
      '\\pard\\intbl Fax\\cell Phone\\cell}',
    ]
    expect(await read('a.rtf', Buffer.from([...lines, ...rest].join('\n')))).toEqual([
      '1. one',
      '2. two',
      'Fox and hen',
      'The lease ends.',
      'Fax; Phone',
    ])
  })

  it('has its letters by font and by Unicode, current text, notes, text boxes, readings and merged cells', async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}{\f2\fcharset128 C;}}
{\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\title Not shown}}
\pard\s1 Rope\par\pard\plain\f0 K\'f6ln, {\f1\'cf\'e0}, {\f2\'93\'fa}, \u8364?5, part A\_7{\deleted gone}{\v hidden}{\*\footnote Without tax.}
{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt Call 7714.\par}}{\shprslt Call 7714.}}{\pict 89504e47}\par
10{\super -}{\super 6}, m\up6 2\up0 , 11\sub 2\nosupersub , tax{\super 12}{\super\plain 3}\par
{\field{\*\fldinst EQ \\* jc2 \\o\\ad(\\s\\up 9(x),y)}{\fldrslt }}{\field{\*\fldinst HYPERLINK "z"}{\fldrslt link}}\par
\trowd\trhdr\cellx100\cellx200\cellx300\pard\intbl City\cell Adults\cell Children\cell\row
\trowd\clvmgf\cellx100\cellx200\cellx300\pard\intbl Oslo\cell 5\cell 6\cell\row
\trowd\clvmrg\cellx100\cellx300\pard\intbl\cell 7\cell\row\pard{\bin3 {{{}End\par}`
    expect(await read('a.rtf', Buffer.from(rtf, 'latin1'))).toEqual([
      '1 Rope',
      'Köln, Па, 日, €5, part A-7',
      'Without tax.',
      'Call 7714.',
      '10^-6, m^2, 11_2, tax^123',
      'ylink',
      'City: Oslo; Adults: 5; Children: 6',
      'City: Oslo; Adults: 7; Children: 7',
      'End',
    ])
  })
})

describe('a chart', () => {
  it('has its values at their own categories, also where some have none', async () => {
    const points = (all: [at: number, value: string][]) =>
      all.map(([at, value]) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')
    const series = (name: string, all: [number, string][]) =>
      `<c:ser><c:tx>${points([[0, name]])}</c:tx><c:dLbls><c:dLbl><c:tx><a:p><a:t>best year</a:t></a:p></c:tx></c:dLbl></c:dLbls><c:cat>${points(
        [
          [0, 'Oslo'],
          [1, 'Bergen'],
          [2, 'Narvik'],
        ],
      )}</c:cat><c:val>${points(all)}</c:val></c:ser>`
    const xml = `<c:chart>${series('Sales', [
      [0, '10'],
      [2, '30.399999999999999'],
    ])}${series('Costs', [[1, '7']])}</c:chart>`
    const drawing = '<w:drawing><c:chart xmlns:c="c" r:id="p0"/></w:drawing>'
    const file = docx(paragraph('Sales', `<w:r>${drawing}</w:r>`), { 'chart.xml': { kind: 'chart', xml } })
    expect(await read('sales.docx', file)).toEqual([
      'Sales',
      'Oslo; Sales: 10',
      'Bergen; Costs: 7',
      'Narvik; Sales: 30.4',
    ])
  })
})

describe('a diagram', () => {
  const node = (id: string, text: string, type = 'node') =>
    `<dgm:pt modelId="${id}" type="${type}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`
  const link = (from: string, to: string, order: number) =>
    `<dgm:cxn modelId="c${from}${to}" srcId="${from}" destId="${to}" srcOrd="${order}"/>`
  const xml = `<dgm:dataModel xmlns:dgm="d" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>${node('0', '', 'doc')}${node('2', 'Crane')}${node('1', 'Harbour master')}${node('3', 'Pilots')}${node('4', 'junk', 'pres')}</dgm:ptLst><dgm:cxnLst>${link('0', '1', 0)}${link('1', '3', 0)}${link('1', '2', 1)}${link('3', '1', 0)}</dgm:cxnLst></dgm:dataModel>`
  const shown = ['- Harbour master', '- Pilots', '- Crane']

  it('of a document has its texts below those on which they hang', async () => {
    const drawing = '<w:r><w:drawing><dgm:relIds xmlns:dgm="d" r:dm="p0" r:lo="x"/></w:drawing></w:r>'
    const file = docx(paragraph(drawing), { 'data.xml': { kind: 'diagramData', xml } })
    expect(await read('plan.docx', file)).toEqual(shown)
  })

  it('stands below the rows of its sheet, as text boxes do', async () => {
    const drawing = `<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor><xdr:sp><xdr:txBody><a:p><a:r><a:t>Draft of May</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor><xdr:twoCellAnchor><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="x" descr="Picture 1"/></xdr:nvPicPr></xdr:pic></xdr:twoCellAnchor><xdr:twoCellAnchor><xdr:graphicFrame><a:graphic><dgm:relIds xmlns:dgm="d" xmlns:r="r" r:dm="d1"/></a:graphic></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>`
    const file = xlsx([
      {
        name: 'Staff',
        rows: [
          ['Name', 'Pay'],
          ['Ada', 12],
        ],
        drawing: { xml: drawing, parts: { d1: { kind: 'diagramData', xml } } },
      },
    ])
    expect(await read('staff.xlsx', file)).toEqual(['1 Staff', 'Name: Ada; Pay: 12', 'Draft of May', ...shown])
  })
})

describe('a document of pages', () => {
  it('has the texts of the pages in it', async () => {
    const file = docx(`${paragraph('Above')}<w:altChunk r:id="p0"/>${paragraph('Below')}`, {
      'page.html': { kind: 'aFChunk', xml: '<h1>Münze</h1><ol type="i"><li>Oil</li></ol>' },
    })
    expect(await read('a.docx', file)).toEqual(['Above', '1 Münze', 'i. Oil', 'Below'])
  })
})

describe('a document that is one file of XML', () => {
  const word = 'http://schemas.microsoft.com/office/word/2003/wordml'

  it('of Word 2003 has its headings, numbers, notes and current text', async () => {
    const list = (mark: string) =>
      `<w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="1"/><wx:t wx:val="${mark}"/></w:listPr></w:pPr>`
    const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`
    const deleted = `<aml:annotation w:type="Word.Deletion"><aml:content>${run('junk')}</aml:content></aml:annotation>`
    const note = `<w:r><w:footnote><w:p>${run('As of May.')}</w:p></w:footnote></w:r>`
    const cell = (text: string) => `<w:tc><w:p>${run(text)}</w:p></w:tc>`
    const xml = `<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument xmlns:w="${word}" xmlns:wx="x" xmlns:aml="a"><w:styles><w:style w:type="paragraph" w:styleId="Rubrik1"><w:name w:val="heading 1"/></w:style></w:styles><w:body><wx:sect><w:p><w:pPr><w:pStyle w:val="Rubrik1"/></w:pPr>${run('Lease')}</w:p><w:p>${list('2.1')}${run('The rent')}${deleted}${note}</w:p><w:p>${list('·')}${run('Levy')}</w:p><w:tbl><w:tr>${cell('Ship')}${cell('Tons')}</w:tr><w:tr>${cell('Amalia')}${cell('1180')}</w:tr></w:tbl></wx:sect></w:body></w:wordDocument>`
    expect(await read('lease.xml', xml)).toEqual([
      '1 Lease',
      '2.1 The rent',
      'As of May.',
      '- Levy',
      'Ship: Amalia; Tons: 1180',
    ])
  })

  it('of current Word has its parts in it', async () => {
    const part = (name: string, data: string) =>
      `<pkg:part pkg:name="${name}" pkg:contentType="x"><pkg:xmlData>${data}</pkg:xmlData></pkg:part>`
    const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
    const xml = `<?xml version="1.0"?><?mso-application progid="Word.Document"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">${part('/word/document.xml', `<w:document xmlns:w="${main}"><w:body>${paragraph('The lease.')}</w:body></w:document>`)}</pkg:package>`
    expect(await read('lease.xml', xml)).toEqual(['The lease.'])
  })

  it('of OpenDocument has its numbers and its head', async () => {
    const list = '<text:list text:style-name="L"><text:list-item><text:p>Oil</text:p></text:list-item></text:list>'
    const xml = `<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.text"><office:meta><dc:title>junk</dc:title></office:meta><office:automatic-styles><text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="i" style:num-suffix=")" text:start-value="3"/></text:list-style></office:automatic-styles><office:master-styles><style:master-page><style:header><text:p>Harbour office</text:p></style:header></style:master-page></office:master-styles><office:body><office:text>${list}<text:p>See<draw:frame><draw:image><office:binary-data>AAAA</office:binary-data></draw:image></draw:frame></text:p></office:text></office:body></office:document>`
    expect(await read('lease.fodt', xml)).toEqual(['Harbour office', 'iii) Oil', 'See'])
  })

  it('is a workbook, by OpenDocument and of Excel 2003', async () => {
    const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`
    const rows = (make: (text: string) => string, tag: string) =>
      [
        ['Ship', 'Tons'],
        ['Amalia', '1180'],
      ]
        .map((row) => `<${tag}>${row.map(make).join('')}</${tag}>`)
        .join('')
    const open = `<office:document office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="Ships">${rows(cell, 'table:table-row')}</table:table></office:spreadsheet></office:body></office:document>`
    const old = `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="Ships"><Table>${rows((text) => `<Cell><Data ss:Type="String">${text}</Data></Cell>`, 'Row')}</Table></Worksheet></Workbook>`
    for (const [name, xml] of [
      ['ships.fods', open],
      ['ships.xml', old],
      ['ships.xls', old],
    ] as const)
      expect(await read(name, xml)).toEqual(['1 Ships', 'Ship: Amalia; Tons: 1180'])
  })
})

describe('a template, and a binary workbook', () => {
  it.each([
    ['a.dotm', 'application/vnd.ms-word.template.macroEnabledTemplate.main+xml'],
    ['a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml'],
  ])('%s is read as what it is a template of', async (name, type) => {
    const made = await read(name, docx(paragraph('The lease.'), {}, type))
    expect(made).toEqual(['The lease.'])
  })

  it('is read by its cells', async () => {
    const sheet = utils.aoa_to_sheet([
      ['Ship', 'Tons'],
      ['Amalia', 1180],
    ])
    const book = utils.book_new()
    utils.book_append_sheet(book, sheet, 'Ships')
    const data: unknown = write(book, { type: 'buffer', bookType: 'xlsb' })
    expect(Buffer.isBuffer(data) && (await read('ships.xlsb', data))).toEqual(['1 Ships', 'Ship: Amalia; Tons: 1180'])
  })
})

describe('a book', () => {
  it('is read in the order of its spine, with numbers of lists and what its pictures show', async () => {
    const chapter = (text: string) =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>${text}</body></html>`
    const item = (id: string, href: string) => `<item id="${id}" href="${href}" media-type="application/xhtml+xml"/>`
    const files = {
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
      'OPS/book.opf': `<package><manifest>${item('b', 'text/b%20two.xhtml')}${item('a', 'text/z.xhtml')}</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
      'OPS/text/b two.xhtml': chapter('<h1>Second</h1><img src="x" alt="Map of the bay"/>'),
      'OPS/text/z.xhtml': chapter(
        '<h1>First</h1><ol><li>Oil</li><li>10<sup>6</sup> ropes, 10<span class="CharOverride-1">3</span> sails</li></ol>',
      ),
      'OPS/book.css': 'span.CharOverride-1 {\n\tfont-size: 58%;\n\tvertical-align: super;\n}',
    }
    const data = zip(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })))
    expect(await read('book.epub', data)).toEqual([
      '1 First',
      '1. Oil',
      '2. 10^6 ropes, 10^3 sails',
      '1 Second',
      'Map of the bay',
    ])
  })
})

describe('texts of programmers', () => {
  it('are notebooks: texts, code and results', async () => {
    const cells = [
      { cell_type: 'markdown', source: ['# Tides\n', 'The tide is high.'] },
      { cell_type: 'code', source: 'height = 4', outputs: [{ output_type: 'stream', text: ['42\n'] }] },
    ]
    expect(await read('tides.ipynb', JSON.stringify({ cells, nbformat: 4 }))).toEqual([
      '1 Tides',
      'The tide is high.',
      'height = 4',
      '42',
    ])
    expect(await read('other.ipynb', '{"sheets": [{"input": "height = 4"}]}')).toEqual(['sheets.0.input: height = 4'])
  })

  it('are notebooks of the third version, and tables and failures among results', async () => {
    const outputs = [
      { data: { 'text/html': '<table><tr><th>n<th>w</tr><tr><td>a<td>7</tr></table>', 'text/plain': '  n w' } },
      { ename: 'ValueError', evalue: 'too low' },
    ]
    const cells = [
      { cell_type: 'heading', level: 2, source: ['Tides'] },
      { cell_type: 'code', input: 'height = 4', outputs },
    ]
    expect(await read('old.ipynb', JSON.stringify({ worksheets: [{ cells }] }))).toEqual([
      '2 Tides',
      'height = 4',
      'n: a; w: 7',
      'ValueError: too low',
    ])
  })

  it('are code, a block for each definition with its comment', async () => {
    const code =
      'import os\n\n# The height.\ndef height(x):\n    return x\n\n@cached\nclass Tide:\n    def high(self):\n        return 1\n'
    expect(await read('tide.py', code)).toEqual([
      'import os',
      '# The height.\ndef height(x):\n    return x',
      '@cached\nclass Tide:\n    def high(self):\n        return 1',
    ])
    const script =
      "import a from 'a'\n\n/** Adds. */\nexport function add(a, b) {\n  return a + b\n}\n\nexport const half = (a) => a / 2\n"
    expect(await read('add.ts', script)).toEqual([
      "import a from 'a'",
      '/** Adds. */\nexport function add(a, b) {\n  return a + b\n}',
      'export const half = (a) => a / 2',
    ])
  })
})
