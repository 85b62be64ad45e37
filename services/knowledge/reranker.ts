/** A model that reads a question together with each text, and so tells better than a search which texts answer it. */
export interface Reranker {
  /** How well each text fits, from 0 to 1, in the order of the texts; undefined if the server fails or is too slow. */
  rerank(question: string, texts: string[], signal?: AbortSignal): Promise<number[] | undefined>
}
