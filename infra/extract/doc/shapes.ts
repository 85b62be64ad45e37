import { type OfficeRecord, descriptionOf, findRecord, recordAt, recordsIn } from '../ole/records.ts'
import { type WordFile, parts, positionsIn } from './word-file.ts'

const maxShapes = 20_000
const deepest = 50
const drawingRecord = 0xf0_02
const groupRecord = 0xf0_03
const shapeRecord = 0xf0_04
const headRecord = 0xf0_0a

/** A shape of a drawing. */
interface DocShape {
  id: number
  /** The id of the outermost group that it is in: the place of the group is that of the shape. */
  group: number
  description: string | undefined
}

/** Where shapes hang in the body, by their ids, and what somebody wrote about those that are pictures. */
interface ShapePositions {
  places: Map<number, number>
  described: { position: number; description: string }[]
}

export function shapePositions(file: WordFile): ShapePositions {
  const positions = new Map<number, number>()
  const described: ShapePositions['described'] = []
  const list = positionsIn(file.part(parts.shapes), 26)
  for (let index = 0; index < Math.min(list.count, maxShapes); index++)
    positions.set(list.data(index).readUInt32LE(0), list.at(index))
  for (const { id, group, description } of shapesIn(file.part(parts.drawings))) {
    const position = positions.get(group)
    if (position === undefined) continue
    if (!positions.has(id)) positions.set(id, position)
    if (description !== undefined && isWords(description)) described.push({ position, description })
  }
  return { places: positions, described }
}

/** The shapes of a document ([MS-DOC] 2.9.172, [MS-ODRAW] 2.2.13). */
function shapesIn(drawings: Buffer): DocShape[] {
  const shapes: DocShape[] = []
  const shared = drawings.length < 8 ? 0 : 8 + recordAt(drawings, 0).data.length
  for (let at = shared; at + 9 <= drawings.length;) {
    // A byte says to which of the texts the drawing belongs.
    const drawing = recordAt(drawings, at + 1)
    if (drawing.kind !== drawingRecord) break
    for (const all of recordsIn(drawing.data))
      if (all.kind === groupRecord) for (const record of recordsIn(all.data)) addShapes(record, undefined, 0)
    at += 9 + drawing.data.length
  }
  return shapes

  /** The first shape of a group is the group itself. */
  function addShapes(record: OfficeRecord, outermost: number | undefined, depth: number): number | undefined {
    if (record.kind === groupRecord && depth < deepest) {
      let group = outermost
      for (const inner of recordsIn(record.data)) group = addShapes(inner, group, depth + 1) ?? group
      return group
    }
    const head = record.kind === shapeRecord ? findRecord(record.data, headRecord)?.data : undefined
    if (head === undefined || head.length < 4 || shapes.length >= maxShapes) return undefined
    const id = head.readUInt32LE(0)
    const group = outermost ?? id
    shapes.push({ id, group, description: descriptionOf(record.data) })
    return group
  }
}

/** What programs write by themselves is the name of a file. */
const isWords = (text: string): boolean => !/^\S*\.\w{2,4}$|[\\/]\S*\.\w{2,4}$/.test(text)

const shapeInData = 0x64
const linkedShapeInData = 0x66

/** What somebody wrote about a picture that stands among letters, by its data at `offset` ([MS-DOC] 2.9.192). */
export function pictureDescription(data: Buffer, offset: number): string {
  const head = data.readUInt16LE(offset + 4)
  const kind = data.readUInt16LE(offset + 6)
  if (kind !== shapeInData && kind !== linkedShapeInData) return ''
  const name = kind === linkedShapeInData ? 1 + data.readUInt8(offset + head) : 0
  const picture = data.subarray(offset + head + name, offset + data.readUInt32LE(offset))
  const [shape] = recordsIn(picture)
  const text = shape?.kind === shapeRecord ? descriptionOf(shape.data) : undefined
  return text !== undefined && isWords(text) ? text : ''
}
