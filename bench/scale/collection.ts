import type { VectorRecord } from '../../services/knowledge/vector-store.ts'

const clusters = 2000
/** Vectors of texts vary in few directions. Were they independent numbers, all neighbours would be equally far away. */
const directions = 24
const noise = 0.1

/**
 * A collection of clustered vectors, the same for the same arguments: each is near one of 2,000 centres in 24 random
 * directions, with noise in all dimensions, and has the length 1. Nothing is kept but the directions and the centres.
 */
export function createCollection(dimensions: number) {
  const next = random(1)
  const basis = Float32Array.from({ length: directions * dimensions }, () => bell(next))
  const centres = Float32Array.from({ length: clusters * directions }, () => bell(next))

  function vectorOf(seed: number): number[] {
    const own = random(seed + 1000)
    const centre = Math.floor(own() * clusters) * directions
    const vector = new Float64Array(dimensions)
    for (let dimension = 0; dimension < dimensions; dimension++) vector[dimension] = noise * (own() - 0.5)
    for (let direction = 0; direction < directions; direction++) {
      const weight = (centres[centre + direction] ?? 0) + 0.5 * bell(own)
      const from = direction * dimensions
      for (let dimension = 0; dimension < dimensions; dimension++) {
        vector[dimension] = (vector[dimension] ?? 0) + weight * (basis[from + dimension] ?? 0)
      }
    }
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
    return Array.from(vector, (value) => value / length)
  }

  return {
    vectorOf,
    /** `count` chunks from `start` on, in files of `fileChunks`. */
    records(start: number, count: number, fileChunks = 10_000): VectorRecord[] {
      return Array.from({ length: count }, (_, index) => {
        const position = start + index
        const fileId = `f${Math.floor(position / fileChunks)}`
        return { id: `${position}`, fileId, position, text: words(position, 60), vector: vectorOf(position) }
      })
    },
    /** A question that is none of the stored texts. */
    question: (number: number) => ({
      vector: vectorOf(2_000_000_000 + number),
      text: words(2_000_000_000 + number, 10),
    }),
  }
}

/** The nearest of all vectors that were shown, by comparing each. */
export function createExactSearch(questions: number[][], limit: number) {
  const targets = questions.map((vector) => Float64Array.from(vector))
  const best = questions.map((): { id: string; score: number }[] => [])
  return {
    show({ id, vector }: Pick<VectorRecord, 'id' | 'vector'>): void {
      const shown = Float64Array.from(vector)
      for (const [number, target] of targets.entries()) {
        let score = 0
        for (let index = 0; index < shown.length; index++) score += (shown[index] ?? 0) * (target[index] ?? 0)
        const found = best[number]
        if (!found || (found.length === limit && score <= (found.at(-1)?.score ?? 0))) continue
        found.push({ id, score })
        found.sort((a, b) => b.score - a.score)
        if (found.length > limit) found.pop()
      }
    },
    /** Ids of the nearest of each question, nearest first. */
    nearest: () => best.map((found) => found.map(({ id }) => id)),
  }
}

/** About a normal distribution with variance 1. */
function bell(next: () => number): number {
  return 2 * (next() + next() + next()) - 3
}

/** The same numbers for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Few words are frequent, and most are rare, as in a language. */
export function words(seed: number, count: number): string {
  const next = random(seed + 77)
  return Array.from({ length: count }, () => `word${Math.floor(next() ** 3 * 30_000)}`).join(' ')
}
