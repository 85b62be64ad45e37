import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { createQdrantStore } from '../../infra/vectors/qdrant.ts'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'

const number = (name: string, fallback: number) => Number(process.env[name] || fallback)

/** What is measured, from the environment: both processes of the measurement read it. */
export function scaleSettings() {
  return {
    /** Vectors of the large assistant. */
    vectors: number('BENCH_SCALE_VECTORS', 1_000_000),
    dimensions: number('BENCH_SCALE_DIMENSIONS', 256),
    assistants: number('BENCH_SCALE_ASSISTANTS', 10_000),
    /** Vectors of each of the many assistants. */
    each: 50,
    /** Chunks of each file of the large assistant. */
    fileChunks: number('BENCH_SCALE_FILE_CHUNKS', 10_000),
    questions: number('BENCH_SCALE_QUESTIONS', 100),
    limit: 10,
  }
}

/** So many files are added while searches are measured. */
export const grownFiles = 3
export const largeSpace = 'large'
export const smallSpace = (index: number) => `small-${index}`

/** LanceDB in the folder, or the Qdrant server of `BENCH_SCALE_QDRANT`. */
export function storeIn(folder: string): VectorStore {
  const url = process.env['BENCH_SCALE_QDRANT']
  return url ? createQdrantStore({ url, collection: 'bench-scale' }) : createLanceStore(folder)
}
