/** What the console asks of the frame in which diagrams are drawn. */
export interface DrawRequest {
  /** Source of a diagram in Mermaid's language. */
  text: string
  isDark: boolean
}

/** What the frame answers: its size in pixels, or undefined if the text is not a diagram. */
export interface DrawAnswer {
  drawn?: { width: number; height: number }
}

/** Longer ones are shown as their source. */
export const longestDiagram = 20_000
