import { readFile } from 'node:fs/promises'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { createGraph } from './graph.ts'
import { createTokenizer } from './tokenizer.ts'
import { readRow, readWeights } from './weights.ts'

/** Of a longer text the rest is not read: eight parts take a second. */
const mostParts = 8

export type BuiltInModel = Awaited<ReturnType<typeof loadModel>>

/** The model, ready to embed. `threads`: how many processors one text may use. */
export async function loadModel(file: string, threads: number) {
  const weights = readWeights(await readFile(file))
  const { hidden, positions, vocabulary } = weights
  const tokensOf = createTokenizer(vocabulary)
  const places = weights.floats('emb.pos')
  const kind = weights.floats('emb.type')
  const words = weights.blocks('emb.word')
  const session = await InferenceSession.create(createGraph(weights), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    // Memory of the longest text is given back.
    enableCpuMemArena: false,
  })

  async function meanOf(tokens: number[]): Promise<Float32Array> {
    const input = new Float32Array(tokens.length * hidden)
    for (const [at, token] of tokens.entries()) {
      const row = input.subarray(at * hidden, (at + 1) * hidden)
      readRow(words, token, row)
      for (let index = 0; index < hidden; index++)
        row[index] = (row[index] ?? 0) + (places[at * hidden + index] ?? 0) + (kind[index] ?? 0)
    }
    const { mean } = await session.run({ tokens: new Tensor('float32', input, [1, tokens.length, hidden]) })
    if (!(mean?.data instanceof Float32Array)) throw new Error('the model returned no vector')
    return mean.data
  }

  return {
    dimensions: hidden,

    /** A vector of length 1, and the tokens of the text. A text that is too long for the model is read in parts. */
    async embed(text: string): Promise<{ vector: Float32Array; tokens: number }> {
      const tokens = tokensOf(text).slice(0, mostParts * (positions - 2))
      const sum = new Float32Array(hidden)
      for (let start = 0; start === 0 || start < tokens.length; start += positions - 2) {
        const part = tokens.slice(start, start + positions - 2)
        const mean = await meanOf([vocabulary.begin, ...part, vocabulary.end])
        for (let index = 0; index < hidden; index++)
          sum[index] = (sum[index] ?? 0) + (part.length || 1) * (mean[index] ?? 0)
      }
      const length = Math.hypot(...sum)
      return { vector: sum.map((value) => value / length), tokens: tokens.length }
    },
  }
}
