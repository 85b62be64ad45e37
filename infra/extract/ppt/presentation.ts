import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { openCompoundFile } from '../ole/compound-file.ts'
import { type OfficeRecord, findRecord, recordAt, recordsIn } from '../ole/records.ts'
import { kinds } from './kinds.ts'
import { type PptText, readTexts } from './text.ts'

/** A slide or its notes, as the document lists them. */
interface Listed {
  persistId: number
  id: number
  /** Texts of its placeholders, which stand in the list. */
  texts: PptText[]
}

interface PptSlide {
  record: Buffer
  /** The names of the fonts of the presentation. */
  fonts: string[]
  outline: PptText[]
  notes: Buffer | undefined
  isHidden: boolean
}

const encryptedToken = 0xf3_d1_c4_df
const maxEdits = 10_000
const maxObjects = 200_000
const maxSlides = 20_000
const maxFonts = 5000
const slideHidden = 4

const damaged = () => new UnreadableFile('damaged', 'This presentation is damaged and cannot be read.')
const encrypted = () =>
  new UnreadableFile('encrypted', 'This presentation is protected with a password and cannot be read.')

/** The slides of a presentation of PowerPoint 97 to 2003 in their order. Throws `UnreadableFile`. */
export function* slidesOf(bytes: Buffer): Generator<PptSlide> {
  const container = openCompoundFile(bytes)
  const stream = container.stream('PowerPoint Document')
  const current = container.stream('Current User')
  if (stream === undefined) throw damaged()
  if (current !== undefined && current.length >= 16 && current.readUInt32LE(12) === encryptedToken) throw encrypted()
  const start = current !== undefined && current.length >= 20 ? current.readUInt32LE(16) : 0
  const { places: offsets, documentId } = readEdits(stream, start)
  const document = objectAt(stream, offsets.get(documentId), kinds.document)
  if (document === undefined) throw damaged()
  const lists = [...recordsIn(document.data)].filter(({ kind }) => kind === kinds.slideList)
  const fonts = fontsIn(document)
  const slides = listed(
    lists.find(({ instance }) => instance === 0),
    fonts,
  )
  const notes = new Map(
    listed(
      lists.find(({ instance }) => instance === 2),
      fonts,
    ).map((item) => [item.id, item.persistId]),
  )
  /** Each object is read once, however often it is listed. */
  const seen = new Set<number>()
  for (const { persistId, texts } of slides) {
    const offset = offsets.get(persistId)
    const slide = objectAt(stream, offset, kinds.slide)
    if (slide === undefined || offset === undefined || seen.has(offset)) continue
    seen.add(offset)
    const head = findRecord(slide.data, kinds.slideHead)?.data
    const notesId = head !== undefined && head.length >= 20 ? head.readUInt32LE(16) : 0
    const notesOffset = offsets.get(notes.get(notesId) ?? 0)
    const show = findRecord(slide.data, kinds.slideShow)?.data
    const isNoted = notesOffset !== undefined && !seen.has(notesOffset)
    if (isNoted) seen.add(notesOffset)
    yield {
      record: slide.data,
      fonts,
      outline: texts,
      notes: isNoted ? objectAt(stream, notesOffset, kinds.notes)?.data : undefined,
      isHidden: show !== undefined && show.length >= 12 && (show.readUInt16LE(10) & slideHidden) !== 0,
    }
  }
}

function objectAt(stream: Buffer, offset: number | undefined, kind: number): OfficeRecord | undefined {
  if (offset === undefined || offset + 8 > stream.length) return undefined
  const record = recordAt(stream, offset)
  return record.kind === kind ? record : undefined
}

/** Where the objects stand: each time that the file was saved, what was changed was written behind the rest. */
function readEdits(stream: Buffer, start: number): { places: Map<number, number>; documentId: number } {
  const offsets = new Map<number, number>()
  const seen = new Set<number>()
  let documentId: number | undefined
  let isWhole = false
  for (let at = start; !seen.has(at) && seen.size < maxEdits && at + 8 <= stream.length;) {
    seen.add(at)
    const edit = recordAt(stream, at)
    if (edit.kind !== kinds.edit || edit.data.length < 20) break
    if (edit.data.length >= 32 && edit.data.readUInt32LE(28) !== 0) throw encrypted()
    documentId ??= edit.data.readUInt32LE(16)
    const directory = objectAt(stream, edit.data.readUInt32LE(12), kinds.directory)
    if (directory) addOffsets(offsets, directory.data)
    at = edit.data.readUInt32LE(8)
    isWhole = at === 0
    if (isWhole) break
  }
  // The list of edits is broken: what was written last counts.
  if (!isWhole) {
    const written = [...recordsIn(stream)]
    for (const { kind, data } of written.toReversed()) {
      if (kind === kinds.directory) addOffsets(offsets, data)
      if (kind === kinds.edit && data.length >= 20) documentId ??= data.readUInt32LE(16)
    }
  }
  if (documentId === undefined) throw damaged()
  return { places: offsets, documentId }
}

function addOffsets(offsets: Map<number, number>, data: Buffer): void {
  for (let at = 0; at + 4 <= data.length;) {
    const head = data.readUInt32LE(at)
    const [first, count] = [head & 0xf_ff_ff, head >>> 20]
    at += 4
    for (let index = 0; index < count && at + 4 <= data.length; index++, at += 4)
      if (!offsets.has(first + index) && offsets.size < maxObjects) offsets.set(first + index, data.readUInt32LE(at))
  }
}

function listed(list: OfficeRecord | undefined, fonts: string[]): Listed[] {
  const items: Listed[] = []
  let open: OfficeRecord[] = []
  const close = () => {
    const last = items.at(-1)
    if (last) last.texts = readTexts(open, fonts)
    open = []
  }
  for (const record of recordsIn(list?.data ?? Buffer.alloc(0))) {
    if (record.kind === kinds.slidePlace && record.data.length >= 16) {
      close()
      if (items.length >= maxSlides) return items
      items.push({ persistId: record.data.readUInt32LE(0), id: record.data.readUInt32LE(12), texts: [] })
    } else open.push(record)
  }
  close()
  return items
}

function fontsIn(document: OfficeRecord): string[] {
  const shared = findRecord(document.data, kinds.environment)
  const list = shared && findRecord(shared.data, kinds.fonts)
  const fonts: string[] = []
  for (const { kind, data } of recordsIn(list?.data ?? Buffer.alloc(0)))
    if (kind === kinds.font && fonts.length < maxFonts)
      fonts.push(data.subarray(0, 64).toString('utf16le').split('\0', 1)[0] ?? '')
  return fonts
}
