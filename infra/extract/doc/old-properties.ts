/** Codes of properties of Word 6 and 95 that say something here, with those of Word 97. */
const codes = new Map([
  [2, 0x46_00],
  [24, 0x24_16],
  [25, 0x24_17],
  [46, 0x44_2c],
  [65, 0x08_00],
  [80, 0x4a_30],
  [92, 0x08_3c],
  [93, 0x4a_4f],
  [104, 0x2a_48],
  [186, 0x34_04],
])
const rowDefinitions = new Set([188, 190])
const newRowDefinition = 0xd6_08
const oldCellBytes = 10
const newCellBytes = 20

/** Bytes of the operands. Those that are not named say how long they are by their first byte. */
const lengths = new Map([
  ...range(4, 11, 1),
  ...range(13, 14, 1),
  ...range(16, 19, 2),
  [20, 4],
  ...range(21, 22, 2),
  ...range(24, 25, 1),
  ...range(26, 28, 2),
  [29, 1],
  ...range(30, 36, 2),
  [37, 1],
  ...range(38, 43, 2),
  [44, 1],
  ...range(45, 49, 2),
  ...range(50, 51, 1),
  [2, 2],
  ...range(65, 67, 1),
  [69, 2],
  [70, 4],
  [71, 1],
  [72, 2],
  [73, 3],
  [75, 1],
  [80, 2],
  [83, 0],
  ...range(85, 92, 1),
  [93, 2],
  [94, 1],
  [95, 3],
  ...range(96, 97, 2),
  [98, 1],
  [99, 2],
  ...range(100, 102, 1),
  [104, 1],
  [106, 1],
  [107, 2],
  [110, 2],
  ...range(117, 119, 1),
  ...range(121, 124, 2),
  ...range(182, 184, 2),
  ...range(185, 186, 1),
  [187, 12],
  [189, 2],
  [192, 4],
  [193, 5],
  [194, 4],
  [195, 2],
  [196, 4],
  [197, 2],
  [198, 2],
  [199, 5],
  [200, 4],
])
const withOwnLength = new Set([3, 12, 15, 23, 52, 68, 74, 81, 82, 103, 105, 108, 120, 191])

function range(first: number, last: number, length: number): [number, number][] {
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, length])
}

/** Properties of Word 6 and 95 as Word 97 writes them. Behind one that is not known none can be read. */
export function asNewProperties(bytes: Buffer): Buffer {
  const made: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const code = bytes.readUInt8(at)
    at++
    if (code === 0) continue
    const fixed = lengths.get(code)
    if (fixed !== undefined) {
      const known = codes.get(code)
      if (known !== undefined && at + fixed <= bytes.length)
        made.push(Buffer.of(known & 0xff, known >> 8), bytes.subarray(at, at + fixed))
      at += fixed
    } else if (rowDefinitions.has(code) && at + 2 <= bytes.length) {
      const length = Math.max(1, bytes.readUInt16LE(at)) - 1
      made.push(rowDefinition(bytes.subarray(at + 2, at + 2 + length)))
      at += 2 + length
    } else if (withOwnLength.has(code) && at < bytes.length) at += 1 + bytes.readUInt8(at)
    else break
  }
  return Buffer.concat(made)
}

function rowDefinition(old: Buffer): Buffer {
  const count = old[0] ?? 0
  const borders = 1 + (count + 1) * 2
  if (old.length < borders) return Buffer.alloc(0)
  const cells = Buffer.alloc(count * newCellBytes)
  for (let index = 0; index < count; index++)
    old.subarray(borders + index * oldCellBytes).copy(cells, index * newCellBytes, 0, 2)
  const operand = Buffer.concat([old.subarray(0, borders), cells])
  const head = Buffer.alloc(4)
  head.writeUInt16LE(newRowDefinition, 0)
  head.writeUInt16LE(operand.length + 1, 2)
  return Buffer.concat([head, operand])
}
