export interface ChunkerOptions {
  maxTokens: number
  /** How many tokens at the end of a chunk are repeated at the start of the next one. */
  overlapTokens: number
}

/** In a file of its own: API and worker need these numbers but not the tokenizer, which takes 15 MB. */
export const defaultChunkerOptions: ChunkerOptions = { maxTokens: 400, overlapTokens: 50 }
