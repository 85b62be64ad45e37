import type { BenchContext } from '../environment.ts'
import { benchCrawl } from './crawl.ts'
import { benchMemory } from './memory.ts'
import { benchOcr } from './ocr.ts'
import { measureRecall } from './recall.ts'
import { benchSearch } from './search.ts'
import { benchText } from './text.ts'
import { benchThroughput } from './throughput.ts'

/** The knowledge base: speed and memory of uploads, search, and what the search finds. */
export const knowledgeParts: Record<string, (context: BenchContext) => Promise<void>> = {
  ingestion: benchThroughput,
  text: benchText,
  search: benchSearch,
  recall: benchRecall,
  ocr: benchOcr,
  crawl: benchCrawl,
  upload: benchMemory,
}

async function benchRecall(context: BenchContext): Promise<void> {
  const { questions, first, firstFive } = await measureRecall()
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`
  context.log(`\n### Recall: ${questions} questions about The Devil's Dictionary, demo embeddings\n`)
  context.log(`Answer in the first passage: ${percent(first)}; in the first five: ${percent(firstFive)} (goal: 90 %).`)
}
