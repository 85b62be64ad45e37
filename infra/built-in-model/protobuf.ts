/** The messages of Protocol Buffers that a graph of ONNX is made of: fields of numbers, texts, bytes and messages. */
export type Field = readonly [number: number, value: Value]
export type Value = bigint | number | string | Uint8Array | { float: number } | { fields: Field[] }

/** Numbers are whole and not negative. */
export function encodeMessage(fields: Field[]): Buffer {
  return Buffer.concat(fields.flatMap(([number, value]) => encodeField(number, value)))
}

function encodeField(number: number, value: Value): Uint8Array[] {
  if (typeof value === 'number' || typeof value === 'bigint') return [varint(number << 3), varint(value)]
  if (typeof value === 'string') return withLength(number, Buffer.from(value))
  if (value instanceof Uint8Array) return withLength(number, value)
  if ('fields' in value) return withLength(number, encodeMessage(value.fields))
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value.float)
  return [varint((number << 3) | 5), bytes]
}

function withLength(number: number, bytes: Uint8Array): Uint8Array[] {
  return [varint((number << 3) | 2), varint(bytes.length), bytes]
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}
