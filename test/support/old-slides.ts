import { compoundFile } from './compound-file.ts'

/** A record of a presentation with records in it. */
export const container = (kind: number, records: Buffer[], instance = 0): Buffer =>
  framed(kind, 0xf | (instance << 4), Buffer.concat(records))

/** A record of a presentation with bytes. */
export const atom = (kind: number, data: Buffer, instance = 0): Buffer => framed(kind, instance << 4, data)

function framed(kind: number, head: number, data: Buffer): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(head, 0)
  bytes.writeUInt16LE(kind, 2)
  bytes.writeUInt32LE(data.length, 4)
  return Buffer.concat([bytes, data])
}

/** Whole numbers of four bytes each. */
export function longs(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeInt32LE(value | 0, index * 4)
  return bytes
}

/** A text with what it is for: 0 is a title, 1 the body, 2 notes, 4 another one. */
export const text = (use: number, words: string): Buffer =>
  Buffer.concat([atom(0x0f_9f, longs(use)), atom(0x0f_a0, Buffer.from(words, 'utf16le'))])

/** A shape with its place: left, top, right, bottom. */
export const shape = (place: [number, number, number, number], texts: Buffer[], others: Buffer[] = []): Buffer =>
  container(0xf0_04, [
    atom(0xf0_0a, longs(1, 0)),
    ...others,
    atom(0xf0_0f, longs(...place)),
    ...(texts.length === 0 ? [] : [container(0xf0_0d, texts)]),
  ])

/** Shapes in a group; `isTable`: they are the cells of a table. */
export function group(shapes: Buffer[], isTable = false): Buffer {
  const option = Buffer.alloc(6)
  option.writeUInt16LE(0x03_9f, 0)
  option.writeUInt32LE(1, 2)
  const head = container(0xf0_04, [
    atom(0xf0_09, longs(0, 0, 100, 100)),
    atom(0xf0_0a, longs(1, 0)),
    ...(isTable ? [atom(0xf1_22, option, 1)] : []),
    atom(0xf0_0f, longs(0, 900, 100, 1000)),
  ])
  return container(0xf0_03, [head, ...shapes])
}

export interface OldSlide {
  shapes: Buffer[]
  /** Texts of its placeholders in the list of slides. */
  outline?: Buffer[]
  notes?: string
  isHidden?: boolean
}

const drawingOf = (shapes: Buffer[]) => container(0x04_0c, [container(0xf0_02, [group(shapes)])])

/** A presentation of PowerPoint 97. `previous`: where the edit before the last one is said to stand. */
export function oldSlides(slides: OldSlide[], { previous = 0, token = 0xe3_91_c0_5f } = {}): Buffer {
  const objects: Buffer[] = []
  const listed: Buffer[] = []
  const listedNotes: Buffer[] = []
  for (const [index, { shapes, outline = [], notes, isHidden = false }] of slides.entries()) {
    const id = 256 + index
    const head = Buffer.alloc(24)
    if (notes !== undefined) head.writeUInt32LE(id, 16)
    const show = Buffer.alloc(16)
    show.writeUInt16LE(isHidden ? 4 : 0, 10)
    objects.push(container(0x03_ee, [atom(0x03_ef, head), atom(0x03_f9, show), drawingOf(shapes)]))
    listed.push(atom(0x03_f3, longs(objects.length + 1, 0, 0, id, 0)), ...outline)
    if (notes === undefined) continue
    objects.push(container(0x03_f0, [drawingOf([shape([0, 0, 9, 9], [text(2, notes)])])]))
    listedNotes.push(atom(0x03_f3, longs(objects.length + 1, 0, 0, id, 0)))
  }
  const document = container(0x03_e8, [container(0x0f_f0, listed, 0), container(0x0f_f0, listedNotes, 2)])
  const all = [document, ...objects]
  const places: number[] = []
  let end = 0
  for (const object of all) {
    places.push(end)
    end += object.length
  }
  const directory = atom(0x17_72, longs((all.length << 20) | 1, ...places))
  const edit = atom(0x0f_f5, longs(256, 0, previous, end, 1, all.length, 0))
  const current = Buffer.concat([Buffer.alloc(8), longs(20, token, end + directory.length)])
  return compoundFile({
    'PowerPoint Document': Buffer.concat([...all, directory, edit]),
    'Current User': current,
  })
}
