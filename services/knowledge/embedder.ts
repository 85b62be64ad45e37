export interface Embedder {
  /** Returns one vector for each text, in order. Throws `ModelFailure`, which says whether and when to retry. */
  embed(texts: string[], signal?: AbortSignal): Promise<number[][]>
}
