import type { Block } from '../../../domain/chunking/block.ts'
import type { Content } from '../content.ts'
import { type ContentLine, partsOf, readContentLines, rowOf, textOf } from './content-lines.ts'

/** Of one contact. */
const mostLines = 200

/** Contacts (vCard 2.1, 3 and 4), a row for each. */
export async function* readContacts(content: Content): AsyncGenerator<Block> {
  let lines: ContentLine[] = []
  for await (const line of readContentLines(content)) {
    const part = line.value.trim().toUpperCase()
    if ((line.name === 'BEGIN' || line.name === 'END') && part === 'VCARD') {
      if (lines.length > 0) yield { kind: 'row', text: contactOf(lines) }
      lines = []
    } else if (lines.length < mostLines) lines.push(line)
  }
  if (lines.length > 0) yield { kind: 'row', text: contactOf(lines) }
}

/** What is told of a person, by the property that says it. */
const namedProperties: Record<string, [name: string, of: (value: string) => string]> = {
  NICKNAME: ['Nickname', (value) => partsOf(value, ',').join(', ')],
  ORG: ['Company', (value) => partsOf(value, ';').join(', ')],
  TITLE: ['Title', textOf],
  ROLE: ['Role', textOf],
  TEL: ['Phone', (value) => textOf(value).replace(/^tel:/i, '')],
  EMAIL: ['Email', (value) => textOf(value).replace(/^mailto:/i, '')],
  IMPP: ['Chat', textOf],
  ADR: [
    'Address',
    (value) =>
      partsOf(value, ';')
        .join(', ')
        .replace(/\s*\n\s*/g, ', '),
  ],
  URL: ['Web', textOf],
  BDAY: ['Birthday', dayOf],
  ANNIVERSARY: ['Anniversary', dayOf],
  LANG: ['Language', textOf],
  TZ: ['Time zone', textOf],
  RELATED: ['Related', textOf],
  CATEGORIES: ['Categories', (value) => partsOf(value, ',').join(', ')],
  NOTE: ['Note', textOf],
}

function contactOf(lines: ContentLine[]): string {
  const value = (name: string) => lines.find((line) => line.name === name)?.value ?? ''
  const [family = '', given = '', middle = '', before = '', behind = ''] = value('N')
    .split(/(?<!\\);/)
    .map(textOf)
  const parts = [before, given, middle, family, behind].filter((part) => part !== '').join(' ')
  const name = textOf(value('FN')) || parts || partsOf(value('ORG'), ';').join(', ') || 'without a name'
  const labels = new Map(lines.filter(({ name: of }) => of === 'X-ABLABEL').map((line) => [line.group, labelOf(line)]))
  return rowOf([
    ['Contact', name],
    ...Object.entries(namedProperties).flatMap(([property, [title, of]]) =>
      lines
        .filter((line) => line.name === property)
        .map((line): [string, string] => [titleOf(title, line, labels.get(line.group)), of(line.value)]),
    ),
  ])
}

/** As Apple's address book writes its own: `_$!<HomePage>!$_`. */
const labelOf = ({ value }: ContentLine): string => textOf(value).replace(/^_\$!<([^>]*)>!\$_$/, '$1')

/** `Phone (work, fax)`. */
function titleOf(title: string, { parameters, group }: ContentLine, label: string | undefined): string {
  const types = (parameters.get('TYPE') ?? '').toLowerCase().split(',')
  const useful = types.filter(
    (type) => type !== '' && !/^(?:pref|voice|internet|x-.*|dom|intl|postal|parcel)$/.test(type),
  )
  const said = group !== '' && label !== undefined && label !== '' ? [label] : [...new Set(useful)]
  return said.length === 0 ? title : `${title} (${said.join(', ')})`
}

/** ISO 8601, also where it is written without hyphens. */
function dayOf(value: string): string {
  const found = /^(\d{4})(\d\d)(\d\d)(?:T.*)?$/.exec(value.trim())
  return found ? found.slice(1, 4).join('-') : textOf(value)
}
