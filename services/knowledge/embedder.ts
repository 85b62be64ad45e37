export interface Embedder {
  /** The model and the length of its vectors. Only vectors with the same value can be compared. */
  readonly model: string
  /** Returns one vector for each text, in order. Throws `ModelFailure`, which says whether and when to retry. */
  embed(texts: string[], signal?: AbortSignal): Promise<number[][]>
}
