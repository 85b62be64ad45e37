/** A record of a presentation or of a drawing: a head of eight bytes, then its data ([MS-PPT] 2.3.1, [MS-ODRAW]). */
export interface OfficeRecord {
  kind: number
  instance: number
  data: Buffer
}

const headBytes = 8
const optionBytes = 6
const options = 0xf0_0b
const descriptionOption = 0x03_81
const longestDescription = 1000

/** Records one behind the other; none reaches beyond the bytes that are given. */
export function* recordsIn(bytes: Buffer): Generator<OfficeRecord> {
  for (let at = 0; at + headBytes <= bytes.length;) {
    const record = recordAt(bytes, at)
    yield record
    at += headBytes + record.data.length
  }
}

/** The record that begins at a place. Throws a RangeError if there is none. */
export function recordAt(bytes: Buffer, at: number): OfficeRecord {
  const length = bytes.readUInt32LE(at + 4)
  return {
    kind: bytes.readUInt16LE(at + 2),
    instance: bytes.readUInt16LE(at) >> 4,
    data: bytes.subarray(at + headBytes, at + headBytes + length),
  }
}

/** The first record of a kind among those in `bytes`. */
export function findRecord(bytes: Buffer, kind: number): OfficeRecord | undefined {
  for (const record of recordsIn(bytes)) if (record.kind === kind) return record
  return undefined
}

/** A property of a shape: those with data of their own have it behind all of them. */
export function optionOf(
  { data, instance }: OfficeRecord,
  wanted: number,
): { value: number; data: Buffer } | undefined {
  const end = instance * optionBytes
  let behind = end
  for (let at = 0; at + optionBytes <= data.length && at < end; at += optionBytes) {
    const head = data.readUInt16LE(at)
    const value = data.readUInt32LE(at + 2)
    const own = (head & 0x80_00) === 0 ? 0 : value
    if ((head & 0x3f_ff) === wanted) return { value, data: data.subarray(behind, behind + own) }
    behind += own
  }
  return undefined
}

/** What somebody wrote about a picture. `shape`: the records of the shape. */
export function descriptionOf(shape: Buffer): string | undefined {
  const given = findRecord(shape, options)
  const data = given && optionOf(given, descriptionOption)?.data
  const text = data?.toString('utf16le').split('\0', 1)[0]?.trim().slice(0, longestDescription)
  return text === '' ? undefined : text
}
