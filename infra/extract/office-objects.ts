import type { Block } from '../../domain/chunking/block.ts'
import type { Archive } from './archive.ts'
import { type Relation, maxPartBytes, relationsOf } from './office-package.ts'
import { type Attributes, attribute, createXmlReader } from './word/xml.ts'

const maxObjects = 500

/** The id of the relation to a chart or to the data of a diagram, of the element that places it. */
export function objectOf(name: string, attributes: Attributes): string | undefined {
  if (name.endsWith(':chart')) return attribute(attributes, 'id')
  return name.endsWith(':relIds') ? attribute(attributes, 'dm') : undefined
}

/** What charts and diagrams of a part of an office file say, by the ids of their relations. */
export async function readObjects(archive: Archive, part: string): Promise<Map<string, Block[]>> {
  const objects = new Map<string, Block[]>()
  for (const { id, kind, target } of await relationsOf(archive, part)) {
    const read = readers.get(kind)
    if (read === undefined || objects.size >= maxObjects) continue
    objects.set(id, read((await archive.text(target, maxPartBytes)) ?? ''))
  }
  return objects
}

const readers = new Map<Relation['kind'], (xml: string) => Block[]>([
  ['chart', blocksOfChart],
  ['diagramData', blocksOfDiagram],
])

const maxNodes = 5000
const deepestNode = 50

/** The texts of a diagram (SmartArt): each above those that hang on it (ECMA-376, 21.4). */
function blocksOfDiagram(xml: string): Block[] {
  const texts = new Map<string, string>()
  const below = new Map<string, { id: string; order: number }[]>()
  const above = new Set<string>()
  let node: string | undefined
  let isText = false
  const reader = createXmlReader({
    open(name, attributes) {
      const tag = name.slice(name.indexOf(':') + 1)
      const { type = '', modelId = '', srcId = '', destId = '', srcOrd = '' } = attributes
      if (tag === 'pt' && texts.size < maxNodes && /^(?:node|asst|doc)?$/.test(type)) {
        node = modelId
        texts.set(node, '')
      } else if (tag === 'cxn' && above.size < maxNodes && /^(?:parOf)?$/.test(type)) {
        below.set(srcId, [...(below.get(srcId) ?? []), { id: destId, order: Number(srcOrd) || 0 }])
        above.add(destId)
      } else if (name === 'a:t') isText = true
    },
    close(name) {
      if (name.endsWith(':pt')) node = undefined
      else if (name === 'a:t') isText = false
      else if (name === 'a:p' && node !== undefined) texts.set(node, `${texts.get(node)} `)
    },
    text(text) {
      if (isText && node !== undefined) texts.set(node, (texts.get(node) + text).slice(0, longestValue))
    },
  })
  reader.write(xml)
  reader.end()
  const blocks: Block[] = []
  const seen = new Set<string>()
  const add = (id: string, depth: number): void => {
    if (seen.has(id) || depth > deepestNode) return
    seen.add(id)
    const text = (texts.get(id) ?? '').replace(/\s+/g, ' ').trim()
    if (text !== '') blocks.push({ kind: 'row', text: `${'  '.repeat(depth)}- ${text}` })
    for (const next of (below.get(id) ?? []).toSorted((a, b) => a.order - b.order))
      add(next.id, text === '' ? depth : depth + 1)
  }
  for (const id of texts.keys()) if (!above.has(id)) add(id, 0)
  return blocks
}

const longestValue = 1000

/** The values of a chart as rows, from the copies that it keeps of them. Points without a value are left out there. */
function blocksOfChart(xml: string): Block[] {
  const series: { name: string; categories: Map<number, string>; values: Map<number, string> }[] = []
  let title = ''
  let place: 'title' | 'name' | 'categories' | 'values' | undefined
  let labels = 0
  let point = 0
  let isValue = false
  let value = ''
  const reader = createXmlReader({
    open(name, attributes) {
      const tag = name.slice(name.indexOf(':') + 1)
      // Labels repeat values, or are drawn beside them.
      if (labels > 0 || tag === 'dLbls' || tag === 'trendline') labels++
      else if (tag === 'ser' && series.length < maxSeries)
        series.push({ name: '', categories: new Map(), values: new Map() })
      else if (tag === 'title') place = 'title'
      else if (tag === 'tx' && place !== 'title') place = 'name'
      else if (tag === 'cat' || tag === 'xVal') place = 'categories'
      else if (tag === 'val' || tag === 'yVal') place = 'values'
      else if (tag === 'pt') point = Number(attributes['idx']) || 0
      else if (tag === 'v' || tag === 't') {
        isValue = true
        value = ''
      }
    },
    close(name) {
      const tag = name.slice(name.indexOf(':') + 1)
      if (labels > 0) {
        labels--
        return
      }
      if (tag === 'title') title += ' '
      if (['title', 'tx', 'cat', 'xVal', 'val', 'yVal'].includes(tag)) {
        if (!(tag === 'tx' && place === 'title')) place = undefined
        return
      }
      if (!isValue || (tag !== 'v' && tag !== 't')) return
      isValue = false
      const last = series.at(-1)
      if (place === 'title') title += value
      else if (place === 'name' && last) last.name += value
      else if (place === 'categories' && last && point < maxPoints) {
        // The names of groups of categories follow them, each at its first one.
        const known = last.categories.get(point)
        last.categories.set(point, known === undefined ? value : `${value} ${known}`)
      } else if (place === 'values' && last && point < maxPoints) last.values.set(point, shownNumber(value))
    },
    text(text) {
      if (isValue && value.length < longestValue) value += text
    },
  })
  reader.write(xml)
  reader.end()
  const caption = title.replace(/\s+/g, ' ').trim()
  const blocks: Block[] = caption === '' ? [] : [{ kind: 'text', text: caption }]
  const points = new Set(series.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()]))
  for (const at of [...points].toSorted((a, b) => a - b)) {
    const category = series[0]?.categories.get(at) ?? []
    const values = series.flatMap(({ name, values: all }) =>
      all.has(at) ? `${name === '' ? '' : `${name}: `}${all.get(at)}` : [],
    )
    blocks.push({ kind: 'row', text: [category, values].flat().join('; ') })
  }
  return blocks
}

/** `4.4000000000000004` is how a program stores 4.4. */
const shownNumber = (value: string): string =>
  /^-?\d+\.\d{12,20}$/.test(value) ? String(Number(Number(value).toPrecision(15))) : value

const maxSeries = 50
const maxPoints = 1000
