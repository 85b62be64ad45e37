import katex from 'katex'

/** Formulas within Markdown, as MathML, which browsers draw without fonts or styles of ours. */
export const math = {
  /** What is not TeX is shown as it was written. No links, no commands of HTML, bounded macros and sizes. */
  draw(tex: string, target: HTMLElement, displayMode: boolean): void {
    try {
      katex.render(tex, target, { output: 'mathml', displayMode, strict: 'ignore', maxExpand: 200, maxSize: 20 })
    } catch {
      target.textContent = tex
    }
  },
}
