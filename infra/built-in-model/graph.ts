import { type Weights, blockBytes, blockValues, readRow } from './weights.ts'

/**
 * The model as a graph of ONNX (`onnx.proto3`, opset 17, and ONNX Runtime's own operators), from the vectors of the
 * tokens, `tokens` [1, length, hidden], to the mean of their last states, `mean` [1, hidden]. Products are sums
 * of 8-bit numbers (`DynamicQuantizeMatMul`).
 */
export function createGraph(weights: Weights): Buffer {
  const { hidden, inner, layers, heads, epsilon } = weights
  const nodes: Field[] = []
  const tensors: Field[] = []

  function floats(name: string, parts = [name]): string {
    const values = Float32Array.from(parts.flatMap((part) => [...weights.floats(part)]))
    tensors.push([5, tensor(name, kinds.float, [values.length], new Uint8Array(values.buffer))])
    return name
  }

  function node(operator: string, inputs: string[], output: string, attributes: Attribute[], domain = own): string {
    const named = [...inputs.map((name): Field => [1, name]), [2, output], [4, operator], [7, domain]] satisfies Field[]
    nodes.push([1, { fields: [...named, ...attributes.map((attribute): Field => [5, attribute])] }])
    return output
  }

  function product(input: string, name: string, [from, to]: [number, number]): string {
    const { values, scales } = columnsOf(weights.blocks(name), from, to)
    tensors.push([5, tensor(name, kinds.signedBytes, [from, to], new Uint8Array(values.buffer))])
    tensors.push([5, tensor(`${name}.scales`, kinds.float, [to], new Uint8Array(scales.buffer))])
    return node('DynamicQuantizeMatMul', [input, name, `${name}.scales`], `${name}.product`, [])
  }

  const small = real('epsilon', epsilon)
  let state = node(
    'LayerNormalization',
    ['tokens', floats('emb.ln.w'), floats('emb.ln.b')],
    'begin',
    [real('epsilon', epsilon)],
    '',
  )
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string) => `l${layer}.${name}`
    const parts = ['q', 'k', 'v'].map((part) => product(state, of(`${part}.w`), [hidden, hidden]))
    const biases = floats(of('qkv.b'), [of('q.b'), of('k.b'), of('v.b')])
    const attended = node('MultiHeadAttention', [...parts, biases], of('attended'), [whole('num_heads', heads)])
    const output = product(attended, of('ao.w'), [hidden, hidden])
    const attentionWeights = [floats(of('aln.w')), floats(of('aln.b')), floats(of('ao.b'))]
    state = node('SkipLayerNormalization', [output, state, ...attentionWeights], of('middle'), [small])
    const wide = node('BiasGelu', [product(state, of('fi.w'), [hidden, inner]), floats(of('fi.b'))], of('wide'), [])
    const narrow = product(wide, of('fo.w'), [inner, hidden])
    const last = [floats(of('oln.w')), floats(of('oln.b')), floats(of('fo.b'))]
    state = node('SkipLayerNormalization', [narrow, state, ...last], of('end'), [small])
  }
  node('ReduceMean', [state], 'mean', [wholes('axes', [1]), whole('keepdims', 0)], '')

  const graph: Field[] = [
    ...nodes,
    [2, 'embedding'],
    ...tensors,
    [11, place('tokens', [1, 'length', hidden])],
    [12, place('mean', [1, hidden])],
  ]
  return encodeMessage([
    [1, 9],
    [7, { fields: graph }],
    [
      8,
      {
        fields: [
          [1, ''],
          [2, 17],
        ],
      },
    ],
    [
      8,
      {
        fields: [
          [1, own],
          [2, 1],
        ],
      },
    ],
  ])
}

const own = 'com.microsoft'
const kinds = { float: 1, signedBytes: 3 } as const
type Message = { fields: Field[] }
type Attribute = Message

/**
 * Rows of 4-bit values with a scale for each block, as columns of 8-bit values with one scale each: processors multiply
 * those four times as fast.
 */
function columnsOf(blocks: Buffer, from: number, to: number) {
  if (blocks.length !== ((from * to) / blockValues) * blockBytes) throw new Error('the weights are incomplete')
  const values = new Int8Array(from * to)
  const scales = new Float32Array(to)
  const row = new Float32Array(from)
  for (let column = 0; column < to; column++) {
    readRow(blocks, column, row)
    let largest = 0
    for (const value of row) largest = Math.max(largest, Math.abs(value))
    const scale = largest / 127 || 1
    scales[column] = scale
    for (let at = 0; at < from; at++) values[at * to + column] = Math.round((row[at] ?? 0) / scale)
  }
  return { values, scales }
}

function tensor(name: string, kind: number, sizes: number[], bytes: Uint8Array): Message {
  return { fields: [...sizes.map((size): Field => [1, size]), [2, kind], [8, name], [9, bytes]] }
}

function whole(name: string, value: number): Attribute {
  return {
    fields: [
      [1, name],
      [3, value],
      [20, 2],
    ],
  }
}

function wholes(name: string, values: number[]): Attribute {
  return { fields: [[1, name], ...values.map((value): Field => [8, value]), [20, 7]] }
}

function real(name: string, float: number): Attribute {
  return {
    fields: [
      [1, name],
      [2, { float }],
      [20, 1],
    ],
  }
}

function place(name: string, sizes: (number | string)[]): Message {
  const dimensions = sizes.map((size): Field => [1, { fields: [typeof size === 'string' ? [2, size] : [1, size]] }])
  const type: Field[] = [
    [1, kinds.float],
    [2, { fields: dimensions }],
  ]
  return {
    fields: [
      [1, name],
      [2, { fields: [[1, { fields: type }]] }],
    ],
  }
}

/** The messages of Protocol Buffers that a graph of ONNX is made of: fields of numbers, texts, bytes and messages. */
type Field = readonly [number: number, value: Value]
type Value = bigint | number | string | Uint8Array | { float: number } | { fields: Field[] }

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
