import katex from 'katex'
import { inStyle } from './math-letters.ts'

/**
 * Formulas within Markdown, as MathML, which browsers draw with the tables of a type face for formulas
 * (web/math-fonts.ts).
 */
export const math = {
  /** What is not TeX is shown as it was written. No links, no commands of HTML, bounded macros and sizes. */
  draw(tex: string, target: HTMLElement, displayMode: boolean): void {
    try {
      katex.render(tex, target, { output: 'mathml', displayMode, strict: 'ignore', maxExpand: 200, maxSize: 20 })
      fitToCore(target)
    } catch {
      target.textContent = tex
    }
  },
}

/** KaTeX writes MathML 3; browsers draw MathML Core, and what the type face can stretch. */
function fitToCore(formula: HTMLElement): void {
  for (const part of formula.querySelectorAll('[mathvariant]:not([mathvariant="normal"])')) {
    part.textContent = inStyle(part.textContent ?? '', part.getAttribute('mathvariant') ?? '')
    part.removeAttribute('mathvariant')
  }
  for (const sign of formula.querySelectorAll('mo[stretchy="true"]')) {
    // The combining sign has wide forms.
    if (sign.textContent === '^') sign.textContent = '\u0302'
    const whole = sign.parentElement
    const base = whole?.firstElementChild
    if (sign.textContent !== '\u203e' || !whole || !base) continue
    const lined = document.createElementNS(whole.namespaceURI, 'mrow')
    lined.setAttribute('class', whole.localName === 'mover' ? 'line-above' : 'line-below')
    lined.append(base)
    whole.replaceWith(lined)
  }
}
