import { addAll } from '../../../domain/add-all.ts'
import { type OfficeRecord, descriptionOf, findRecord, optionOf, recordsIn } from '../ole/records.ts'
import { withRaised } from '../raised-text.ts'
import type { Shape } from '../slides/slide.ts'
import { kinds } from './kinds.ts'
import { type PptText, readTexts } from './text.ts'

/** Texts that stand elsewhere than in their shapes, and the names of fonts. */
interface Texts {
  outline: PptText[]
  fonts: string[]
}

interface Box {
  top: number
  left: number
  bottom: number
  right: number
}

const deepest = 30
const maxShapes = 20_000
/** Units of a drawing in those of newer slides. */
const unit = 1587.5
const titleUses = new Set([0, 6])
const titlePlaceholders = new Set([0x0d, 0x0f, 0x11])
/** Placeholders of date, number, footer and header. */
const unread = new Set([0x07, 0x08, 0x09, 0x0a])
const tableOption = 0x03_9f

/** The shapes of a slide or of its notes, in the order in which they were drawn. */
export function shapesIn(page: Buffer, { outline, fonts }: Texts): Shape[] {
  const drawing = findRecord(page, kinds.drawing)
  const shapes = drawing && findRecord(drawing.data, kinds.drawingShapes)
  const all = shapes && findRecord(shapes.data, kinds.group)
  const found: Shape[] = []
  if (all) addShapes(found, all, { outline, fonts }, 0)
  return found
}

function addShapes(to: Shape[], group: OfficeRecord, given: Texts, depth: number): void {
  const [head, ...others] = [...recordsIn(group.data)]
  if (depth > 0 && head !== undefined && isTable(head)) {
    addAll(to, tableOf(head, others, given))
    return
  }
  const start = to.length
  for (const record of others) {
    if (record.kind === kinds.group && depth < deepest) addShapes(to, record, given, depth + 1)
    if (record.kind === kinds.shape && to.length < maxShapes) addAll(to, shapeOf(record, given))
  }
  // Shapes of a group have places within it: as a whole they stand where the group does.
  const box = depth === 1 && head !== undefined ? boxOf(head) : undefined
  if (box) for (const shape of to.slice(start)) Object.assign(shape, { top: box.top * unit, left: box.left * unit })
}

function isTable(head: OfficeRecord): boolean {
  const options = findRecord(head.data, kinds.moreOptions)
  return options !== undefined && (optionOf(options, tableOption)?.value ?? 0) % 2 === 1
}

function shapeOf(record: OfficeRecord, given: Texts): Shape[] {
  const texts = textsOf(record, given)
  const placeholder = placeholderOf(record)
  if (placeholder !== undefined && unread.has(placeholder)) return []
  const paragraphs = texts.flatMap((text) => text.paragraphs.map(readable)).filter((text) => text !== '')
  const isTitle = texts.some(({ use }) => titleUses.has(use)) || titlePlaceholders.has(placeholder ?? 0)
  const description = descriptionOf(record.data)
  if (paragraphs.length === 0 && description === undefined) return []
  const box = boxOf(record)
  return [
    {
      isTitle: isTitle && paragraphs.length > 0,
      paragraphs,
      ...(box ? { top: box.top * unit, left: box.left * unit } : {}),
      ...(description === undefined ? {} : { description }),
    },
  ]
}

const readable = (text: string): string =>
  withRaised(text)
    .replace(/\v/g, '\n')
    .replace(/[\t\u00a0]/g, ' ')
    .trim()

function textsOf(record: OfficeRecord, { outline, fonts }: Texts): PptText[] {
  const box = findRecord(record.data, kinds.textBox)
  if (box === undefined) return []
  const records = [...recordsIn(box.data)]
  const reference = records.find(({ kind }) => kind === kinds.outlineText)?.data
  const listed = reference && reference.length >= 4 ? outline[reference.readUInt32LE(0)] : undefined
  return listed ? [listed] : readTexts(records, fonts)
}

/** What the shape is for; versions since 2007 say of edges of a slide in a record of their own. */
function placeholderOf(record: OfficeRecord): number | undefined {
  const client = findRecord(record.data, kinds.clientData)
  if (client === undefined) return undefined
  const placeholder = findRecord(client.data, kinds.placeholder)?.data
  if (placeholder !== undefined && placeholder.length >= 5) return placeholder.readUInt8(4)
  return findRecord(client.data, kinds.newPlaceholder)?.data[0]
}

function boxOf(record: OfficeRecord): Box | undefined {
  const child = findRecord(record.data, kinds.childPlace)?.data
  if (child && child.length >= 16)
    return {
      left: child.readInt32LE(0),
      top: child.readInt32LE(4),
      right: child.readInt32LE(8),
      bottom: child.readInt32LE(12),
    }
  const place = findRecord(record.data, kinds.place)?.data
  if (!place || place.length < 8) return undefined
  const [top = 0, left = 0, right = 0, bottom = 0] = [0, 1, 2, 3].map((index) =>
    place.length >= 16 ? place.readInt32LE(index * 4) : place.readInt16LE(index * 2),
  )
  return { top, left, right, bottom }
}

/** A table is a group of rectangles, one for each cell, and of the lines between them. */
function tableOf(head: OfficeRecord, records: OfficeRecord[], given: Texts): Shape[] {
  const cells = records.slice(0, maxCells).flatMap((record) => {
    const box = record.kind === kinds.shape ? boxOf(record) : undefined
    if (!box || findRecord(record.data, kinds.textBox) === undefined) return []
    const text = textsOf(record, given)
      .flatMap(({ paragraphs }) => paragraphs.map(readable))
      .join(' ')
      .trim()
    return [{ box, text }]
  })
  const rows = edgesOf(cells.map(({ box }) => box.top))
  const columns = edgesOf(cells.map(({ box }) => box.left))
  const span = (edges: number[], from: number, to: number) =>
    Math.max(1, edges.filter((edge) => edge >= from && edge < to).length)
  const table = rows.slice(0, maxRows).map((top) =>
    cells
      .filter(({ box }) => box.top === top)
      .toSorted((a, b) => a.box.left - b.box.left)
      .map(({ box, text }) => ({
        text,
        columns: span(columns, box.left, box.right),
        rows: span(rows, box.top, box.bottom),
        isCovered: false,
      })),
  )
  const box = boxOf(head)
  return [{ isTitle: false, paragraphs: [], table, ...(box ? { top: box.top * unit, left: box.left * unit } : {}) }]
}

const maxRows = 500
const maxCells = 5000

const edgesOf = (offsets: number[]): number[] => [...new Set(offsets)].toSorted((a, b) => a - b)
