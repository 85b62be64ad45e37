import katex from 'katex'
import remarkMath from 'remark-math'
import { withMathDelimiters } from './math-delimiters.ts'

/** Formulas within Markdown, as MathML, which browsers draw without fonts or styles of ours. */
export const math = {
  prepare: withMathDelimiters,
  plugin: [remarkMath, { singleDollarTextMath: false }] as [typeof remarkMath, { singleDollarTextMath: boolean }],
  /** What is not TeX is shown as it was written. No links, no commands of HTML, bounded macros and sizes. */
  draw(tex: string, target: HTMLElement, displayMode: boolean): void {
    try {
      katex.render(tex, target, { output: 'mathml', displayMode, strict: 'ignore', maxExpand: 200, maxSize: 20 })
    } catch {
      target.textContent = tex
    }
  },
}
