/** What the file says about a paragraph. What it does not say is undefined. */
export interface ParagraphProperties {
  style?: number
  list?: number
  listLevel?: number
  /** Of a heading, from 1; 0: it is none. */
  outline?: number
  isInTable?: boolean
  /** In how many tables it stands, one in the other. */
  depth?: number
  /** The paragraph is the end of a row. */
  isRowEnd?: boolean
  isInnerRowEnd?: boolean
  isInnerCellEnd?: boolean
  row?: RowShape
  isHeader?: boolean
  /** The paragraph is the large first letter of the next one. */
  isDropCap?: boolean
}

/** The cells of a row, by their borders in twentieths of a point. */
export interface RowShape {
  left: number
  cells: { right: number; merged: 'below' | 'beside' | undefined }[]
}

/** What the file says about letters. */
export interface LetterProperties {
  style?: number
  isDeleted?: boolean
  isHidden?: boolean
  raised?: 'super' | 'sub' | undefined
  font?: number
  symbol?: { font: number; code: number }
  /** Where the data stands of a field or a picture. */
  data?: number
}

const maxCells = 100

/** Calls `each` with the code and the operand of each property ([MS-DOC] 2.6); a property that is cut off ends them. */
function forEachProperty(bytes: Buffer, each: (code: number, operand: Buffer) => void): void {
  let at = 0
  while (at + 3 <= bytes.length) {
    const code = bytes.readUInt16LE(at)
    at += 2
    const [skipped, length] = sizeOf(code, bytes, at)
    if (at + skipped + length > bytes.length) return
    each(code, bytes.subarray(at + skipped, at + skipped + length))
    at += skipped + length
  }
}

const tableDefinition = 0xd6_08
const tabChange = 0xc6_15

/** Bytes that say how long the operand is, and the length of the operand. */
function sizeOf(code: number, bytes: Buffer, at: number): [skipped: number, length: number] {
  switch (code >> 13) {
    case 0:
    case 1:
      return [0, 1]
    case 3:
      return [0, 4]
    case 7:
      return [0, 3]
    case 6: {
      const size = bytes.readUInt8(at)
      if (code === tableDefinition)
        return at + 2 <= bytes.length ? [2, Math.max(0, bytes.readUInt16LE(at) - 1)] : [1, bytes.length]
      if (code === tabChange && size === 255) return [1, tabBytes(bytes, at + 1)]
      return [1, size]
    }
    default:
      return [0, 2]
  }
}

function tabBytes(bytes: Buffer, at: number): number {
  const deleted = bytes[at] ?? 0
  const added = bytes[at + 1 + deleted * 4] ?? 0
  return 2 + deleted * 4 + added * 3
}

/** Adds what the properties say about a paragraph. `more`: properties that stand elsewhere in the file. */
export function addParagraphProperties(
  to: ParagraphProperties,
  bytes: Buffer,
  more: (offset: number) => Buffer | undefined,
): void {
  forEachProperty(bytes, (code, operand) => {
    switch (code) {
      case 0x46_00:
        to.style = operand.readUInt16LE(0)
        return
      case 0x26_0a:
        to.listLevel = operand.readUInt8(0)
        return
      case 0x46_0b:
        to.list = operand.readUInt16LE(0)
        return
      case 0x26_40: {
        const level = operand.readUInt8(0)
        to.outline = level < 9 ? level + 1 : 0
        return
      }
      case 0x24_16:
        to.isInTable = operand.readUInt8(0) !== 0
        return
      case 0x24_17:
        to.isRowEnd = operand.readUInt8(0) !== 0
        return
      case 0x66_49:
        to.depth = operand.readInt32LE(0)
        return
      case 0x24_4b:
        to.isInnerCellEnd = operand.readUInt8(0) !== 0
        return
      case 0x24_4c:
        to.isInnerRowEnd = operand.readUInt8(0) !== 0
        return
      case 0x44_2c:
        to.isDropCap = (operand.readUInt16LE(0) & 7) !== 0
        return
      case 0x34_04:
        to.isHeader = operand.readUInt8(0) !== 0
        return
      case tableDefinition:
        to.row = rowShape(operand)
        return
      case 0x56_24:
        mergeBeside(to.row, operand.readUInt8(0), operand.readUInt8(1))
        return
      case 0xd6_2b:
        mergeBelow(to.row, operand)
        return
      case 0x66_45:
      case 0x66_46: {
        const others = more(operand.readUInt32LE(0))
        // Those of the other place have none there of their own.
        if (others) addParagraphProperties(to, others, () => undefined)
        return
      }
      default:
    }
  })
}

function rowShape(operand: Buffer): RowShape | undefined {
  const count = Math.min(operand[0] ?? 0, maxCells)
  const borders = 1 + (count + 1) * 2
  if (operand.length < borders) return undefined
  const firstCell = 1 + ((operand[0] ?? 0) + 1) * 2
  const cells: RowShape['cells'] = []
  for (let index = 0; index < count; index++) {
    const at = firstCell + index * 20
    const flags = at + 2 <= operand.length ? operand.readUInt16LE(at) : 0
    const isBelow = (flags & 0x60) === 0x20
    const isBeside = (flags & 0x02) !== 0 && (flags & 0x01) === 0
    cells.push({
      right: operand.readInt16LE(3 + index * 2),
      merged: isBeside ? 'beside' : isBelow ? 'below' : undefined,
    })
  }
  return { left: operand.readInt16LE(1), cells }
}

function mergeBeside(row: RowShape | undefined, first: number, end: number): void {
  for (const cell of row?.cells.slice(first + 1, end) ?? []) cell.merged = 'beside'
}

function mergeBelow(row: RowShape | undefined, operand: Buffer): void {
  const cell = row?.cells[operand[0] ?? 0]
  if (cell) cell.merged = operand[1] === 1 ? 'below' : undefined
}

/** Adds what the properties say about letters. */
export function addLetterProperties(to: LetterProperties, bytes: Buffer): void {
  forEachProperty(bytes, (code, operand) => {
    switch (code) {
      case 0x08_00:
        to.isDeleted = operand.readUInt8(0) === 1
        return
      case 0x08_3c:
        to.isHidden = (operand.readUInt8(0) & 1) === 1
        return
      case 0x2a_48: {
        const place = operand.readUInt8(0)
        to.raised = place === 1 ? 'super' : place === 2 ? 'sub' : undefined
        return
      }
      case 0x48_45: {
        const height = operand.readInt16LE(0)
        to.raised = height === 0 ? undefined : height > 0 ? 'super' : 'sub'
        return
      }
      case 0x4a_30:
        to.style = operand.readUInt16LE(0)
        return
      case 0x4a_4f:
        to.font = operand.readUInt16LE(0)
        return
      case 0x6a_09:
        to.symbol = { font: operand.readUInt16LE(0), code: operand.readUInt16LE(2) }
        return
      case 0x6a_03:
        to.data = operand.readUInt32LE(0)
        return
      default:
    }
  })
}
