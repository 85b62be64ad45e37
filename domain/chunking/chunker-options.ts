export interface ChunkerOptions {
  maxTokens: number
  /** How many tokens at the end of a chunk are repeated at the start of the next one. */
  overlapTokens: number
}

/** In a file of its own: API and worker need these numbers but not the tokenizer, which takes 15 MB. */
/** The largest chunks that a caller may ask for. */
export const maxChunkTokens = 4096

/**
 * Characters of a chunk: little enough that a group of chunks, each character of them written as six bytes of JSON,
 * stays below the 16 MB of a record. A token is at most 128 characters of a run of spaces, so that only chunks of more
 * than 512 tokens can come near it.
 */
export const maxChunkCharacters = 64 * 1024

export const defaultChunkerOptions: ChunkerOptions = { maxTokens: 400, overlapTokens: 50 }
