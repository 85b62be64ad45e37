/** Texts that are embedded one after the other, for several who ask. */
export interface Request {
  texts: string[]
  vectors: Float32Array[]
  tokens: number
}

/**
 * Whose text is next: a question, which is a single text, goes before the texts of files; requests for those take turns.
 */
export function createQueue<R extends Request>() {
  const waiting: R[] = []
  return {
    add: (request: R) => void waiting.push(request),
    /** The request whose next text is due, which is then the last of those that wait. */
    next(): R | undefined {
      const question = waiting.findIndex(({ texts }) => texts.length === 1)
      const [request] = waiting.splice(Math.max(question, 0), 1)
      if (request !== undefined) waiting.push(request)
      return request
    },
    remove(isGone: (request: R) => boolean): void {
      for (let at = waiting.length - 1; at >= 0; at--) {
        const request = waiting[at]
        if (request !== undefined && isGone(request)) waiting.splice(at, 1)
      }
    },
    isEmpty: () => waiting.length === 0,
  }
}
