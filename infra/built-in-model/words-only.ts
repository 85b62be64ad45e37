import type { Embedder } from '../../services/knowledge/embedder.ts'

/** Takes the place of a model that is not there yet. Only for stores that search words as well. */
export const wordsOnlyEmbedder: Embedder = {
  model: 'words only',
  isWordsOnly: true,
  embed: async (texts) => texts.map(() => [1]),
}
