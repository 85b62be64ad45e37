export interface Embedder {
  /**
   * One vector for each text, in order. Throws `ModelFailure`, which says whether and when it is
   * worth another try.
   */
  embed(texts: string[], signal?: AbortSignal): Promise<number[][]>
}
