import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { extractBlocks } from '../../infra/extract/extract-blocks.ts'
import { docx, paragraph } from '../support/office-files.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'word-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function textsOf(file: string): Promise<string[]> {
  const texts: string[] = []
  for await (const { text } of extractBlocks(file, 'given.docx')) texts.push(text)
  return texts
}

async function read(body: string, parts?: Parameters<typeof docx>[1]): Promise<string[]> {
  const file = path.join(folder, 'given.docx')
  await writeFile(file, docx(body, parts))
  return textsOf(file)
}

const fixture = (name: string) => textsOf(path.join(import.meta.dirname, 'fixtures', name))
const run = (inner: string) => `<w:r>${inner}</w:r>`
const text = (words: string) => run(`<w:t xml:space="preserve">${words}</w:t>`)

describe('a large first letter', () => {
  it('is read with the word that it begins', async () => {
    const frame = '<w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>'
    const body = `<w:p>${frame}${text('T')}</w:p><w:p>${text('he lease ends in May.')}</w:p>`
    expect(await read(body)).toEqual(['The lease ends in May.'])
  })
})

describe('a document of another program', () => {
  it('keeps numbers of lists, header and footer, comments, and tables in cells', async () => {
    expect(await fixture('lease-python-docx.docx')).toEqual([
      'Contract 4417',
      'Lease of the crane',
      'Scope',
      '1. The lease covers one crane.',
      '2. It begins in May.',
      '- Oil',
      '- Ropes',
      'Ship: Amalia; Tons: 1180; Captain: Brandt Since: 2019 Until: 2025',
      'Ship: Nordstern; Tons: 960; Captain: Holm',
      'The rent is due on the first day. It is paid by transfer.',
      '(comment by Ina: Ask the bank.)',
      'Harbour office, room 12',
    ])
  })

  it('keeps formulas, footnotes behind their paragraph, and lists in lists', async () => {
    expect(await fixture('contract-pandoc.docx')).toEqual([
      'Contract',
      'The fee is 20 EUR. The area is (a+b)/2 and x^2+√y.',
      'Without tax.',
      '1. First',
      '2. Second',
      'a. Inner',
      'b. Other',
      '3. Third',
      'A: 1; B: 2',
    ])
  })
})

describe('the numbers of clauses', () => {
  const level = (place: number, shown: string, more = '') =>
    `<w:lvl w:ilvl="${place}"><w:start w:val="1"/><w:numFmt w:val="${more || 'decimal'}"/><w:lvlText w:val="${shown}"/></w:lvl>`
  const list = `<w:abstractNum w:abstractNumId="0">${level(0, '%1.')}${level(1, '%1.%2')}${level(2, '(%3)', 'lowerRoman')}</w:abstractNum>`
  const numbering = {
    'numbering.xml': {
      kind: 'numbering',
      xml: `<w:numbering xmlns>${list}<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`,
    },
  }
  const clause = (place: number, words: string, id = 1) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${place}"/><w:numId w:val="${id}"/></w:numPr></w:pPr>${text(words)}</w:p>`

  it('are counted as Word counts them', async () => {
    const body = [
      clause(0, 'Scope'),
      clause(1, 'Cranes.'),
      clause(0, 'Payment'),
      clause(1, 'In 21 days.'),
      clause(1, 'Late.'),
    ]
    const more = [
      clause(2, 'Interest.'),
      clause(2, 'Costs.'),
      clause(0, 'Liability'),
      clause(1, 'Limited.'),
      clause(0, 'Annex', 2),
    ]
    expect(await read([...body, ...more].join(''), numbering)).toEqual([
      '1. Scope',
      '1.1 Cranes.',
      '2. Payment',
      '2.1 In 21 days.',
      '2.2 Late.',
      '(i) Interest.',
      '(ii) Costs.',
      '3. Liability',
      '3.1 Limited.',
      '1. Annex',
    ])
  })

  it('come from the style of a heading, too', async () => {
    const styles = `<w:styles xmlns><w:style w:type="paragraph" w:styleId="T1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
      <w:style w:type="paragraph" w:styleId="T2"><w:name w:val="Own"/><w:basedOn w:val="T1"/></w:style></w:styles>`
    const styled = (style: string, words: string) =>
      `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr>${text(words)}</w:p>`
    const parts = { ...numbering, 'styles.xml': { kind: 'styles', xml: styles } }
    expect(await read(styled('T1', 'Scope') + paragraph('Text.') + styled('T2', 'Payment'), parts)).toEqual([
      '1. Scope',
      'Text.',
      '2. Payment',
    ])
  })
})

describe('what a paragraph shows', () => {
  const by = 'w:id="1" w:author="A" w:date="2026-01-01T00:00:00Z"'
  it.each([
    [
      'the current text',
      text('Due in ') +
        `<w:del ${by}><w:r><w:delText>30</w:delText></w:r></w:del><w:ins ${by}>${text('14')}</w:ins>${text(' days')}`,
      'Due in 14 days',
    ],
    ['no hidden text', `${text('Seen')}<w:r><w:rPr><w:vanish/></w:rPr><w:t> unseen</w:t></w:r>`, 'Seen'],
    [
      'hyphens and spaces that do not break',
      run('<w:t>A</w:t><w:noBreakHyphen/><w:t>731 at 5\u00a0EUR</w:t>'),
      'A-731 at 5 EUR',
    ],
    [
      'words without their readings',
      run(
        '<w:ruby><w:rt><w:r><w:t>たかはし</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>高橋</w:t></w:r></w:rubyBase></w:ruby>',
      ),
      '高橋',
    ],
    [
      'the results of fields',
      `${text('See ')}${run('<w:fldChar w:fldCharType="begin"/>')}${run('<w:instrText> REF x </w:instrText>')}${run('<w:fldChar w:fldCharType="separate"/>')}${text('clause 4')}${run('<w:fldChar w:fldCharType="end"/>')}`,
      'See clause 4',
    ],
    [
      'a ticked box of an old form',
      `${run('<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData></w:fldChar>')}${run('<w:fldChar w:fldCharType="end"/>')}${text('Insured')}`,
      '[x] Insured',
    ],
    [
      'what is filled into a control',
      `<w:sdt><w:sdtPr/><w:sdtContent>${text('Oslo')}</w:sdtContent></w:sdt><w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>${text('Click here')}</w:sdtContent></w:sdt>`,
      'Oslo',
    ],
  ])('is %s', async (_what, inner, shown) => {
    expect(await read(`<w:p>${inner}</w:p>`)).toEqual([shown])
  })

  it('is a power, apart from its number, also where it was written in parts', async () => {
    const at = (place: string, words: string) =>
      `<w:r><w:rPr><w:vertAlign w:val="${place}"/></w:rPr><w:t xml:space="preserve">${words}</w:t></w:r>`
    const powers = [text('10'), at('superscript', '-'), at('superscript', '6'), text(' CO'), at('subscript', '2')]
    expect(await read(`<w:p>${powers.join('')}${text(' tonnes')}${at('superscript', '1')}${text('.')}</w:p>`)).toEqual([
      '10^-6 CO2 tonnes1.',
    ])
    const moved = (by: number, words: string) =>
      `<w:r><w:rPr><w:position w:val="${by}"/><w:sz w:val="19"/></w:rPr><w:t>${words}</w:t></w:r>`
    const raised = [text('10'), moved(8, '-3'), text(' CO'), moved(-2, '2'), text(' on the first day'), moved(8, '1')]
    expect(await read(`<w:p>${raised.join('')}</w:p>`)).toEqual(['10^-3 CO2 on the first day1'])
  })

  it('is a text box once, behind its paragraph', async () => {
    const inner = `<w:txbxContent>${paragraph('Boiler room: 7714')}</w:txbxContent>`
    const box = run(
      `<mc:AlternateContent><mc:Choice>${inner}</mc:Choice><mc:Fallback>${inner}</mc:Fallback></mc:AlternateContent>`,
    )
    expect(await read(`<w:p>${text('Notes.')}${box}</w:p>`)).toEqual(['Notes.', 'Boiler room: 7714'])
  })
})
