const sectorBytes = 512
const freeSector = 0xff_ff_ff_ff
const chainEnd = 0xff_ff_ff_fe
const tableSector = 0xff_ff_ff_fd

/** A container of Office 97 with these streams in its root folder, each in sectors of 512 bytes. */
export function compoundFile(streams: Record<string, Buffer>): Buffer {
  const names = Object.keys(streams)
  const folderSectors = Math.ceil(((names.length + 1) * 128) / sectorBytes)
  const sizes = names.map((name) => Math.ceil((streams[name]?.length ?? 0) / sectorBytes))
  const used = folderSectors + sizes.reduce((sum, size) => sum + size, 0)
  const tables = Math.ceil((used * 4) / (sectorBytes - 4))
  const next: number[] = []
  const chain = (count: number): number => {
    const start = next.length
    for (let index = 0; index < count; index++) next.push(index === count - 1 ? chainEnd : next.length + 1)
    return count === 0 ? chainEnd : start
  }
  for (let index = 0; index < tables; index++) next.push(tableSector)
  const folderStart = chain(folderSectors)
  const folder = Buffer.alloc(folderSectors * sectorBytes)
  const entry = (index: number, name: string, kind: number) => {
    const at = index * 128
    folder.write(name, at, 'utf16le')
    folder.writeUInt16LE((name.length + 1) * 2, at + 64)
    folder.writeUInt8(kind, at + 66)
    for (const offset of [68, 72, 76]) folder.writeUInt32LE(freeSector, at + offset)
    return at
  }
  const root = entry(0, 'Root Entry', 5)
  folder.writeUInt32LE(names.length === 0 ? freeSector : 1, root + 76)
  folder.writeUInt32LE(chainEnd, root + 116)
  for (const [index, name] of names.entries()) {
    const at = entry(index + 1, name, 2)
    if (index + 1 < names.length) folder.writeUInt32LE(index + 2, at + 72)
    folder.writeUInt32LE(chain(sizes[index] ?? 0), at + 116)
    folder.writeUInt32LE(streams[name]?.length ?? 0, at + 120)
  }
  const head = Buffer.alloc(sectorBytes)
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(head)
  head.writeUInt16LE(0x3e, 24)
  head.writeUInt16LE(3, 26)
  head.writeUInt16LE(0xff_fe, 28)
  head.writeUInt16LE(9, 30)
  head.writeUInt16LE(6, 32)
  head.writeUInt32LE(tables, 44)
  head.writeUInt32LE(folderStart, 48)
  // No stream is too small for a sector of its own.
  head.writeUInt32LE(0, 56)
  for (const offset of [60, 68]) head.writeUInt32LE(chainEnd, offset)
  for (let index = 0; index < 109; index++) head.writeUInt32LE(index < tables ? index : freeSector, 76 + index * 4)
  const table = Buffer.alloc(tables * sectorBytes, 0xff)
  for (const [index, value] of next.entries()) table.writeUInt32LE(value, index * 4)
  const padded = (bytes: Buffer) =>
    Buffer.concat([bytes, Buffer.alloc((sectorBytes - (bytes.length % sectorBytes)) % sectorBytes)])
  return Buffer.concat([head, table, folder, ...names.map((name) => padded(streams[name] ?? Buffer.alloc(0)))])
}
