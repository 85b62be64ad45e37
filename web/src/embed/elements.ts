import { faceOf } from '../lib/face.ts'

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  text?: string,
): HTMLElementTagNameMap[K] {
  const result = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value)
  if (text !== undefined) result.textContent = text
  return result
}

/** A button with a sign, and a name for it. */
export function signButton(sign: string, label: string): HTMLButtonElement {
  return element('button', { type: 'button', 'aria-label': label, title: label }, sign)
}

const strokes = {
  close: 'M6 6l12 12M18 6L6 18',
  restart: 'M5 12a7 7 0 1 0 2.2-5.1M5 4v4h4',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
}

/** An icon of lines, as those of the console. */
export function icon(name: keyof typeof strokes): SVGElement {
  const line = { fill: name === 'stop' ? 'currentColor' : 'none', stroke: 'currentColor', 'stroke-width': '2' }
  const svg = picture(24, [
    ['path', { d: strokes[name], ...line, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }],
  ])
  svg.setAttribute('class', 'icon')
  return svg
}

/** A button with an icon, and a name for it. */
export function iconButton(name: keyof typeof strokes, label: string): HTMLButtonElement {
  const button = signButton('', label)
  button.append(icon(name))
  return button
}

export function bubbleIcon(): SVGElement {
  return picture(24, [
    ['path', { d: 'M5 4h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H10l-5 4v-4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z' }],
  ])
}

/** The face of the assistant with that name. */
export function face(name: string): SVGElement {
  const { skin, ink, eyes, areEyesLines, mouth } = faceOf(name)
  const line = { fill: 'none', stroke: ink, 'stroke-width': '1.8', 'stroke-linecap': 'round' }
  const svg = picture(32, [
    ['rect', { width: '32', height: '32', rx: '10', fill: skin }],
    ['path', { d: eyes, ...(areEyesLines ? line : { fill: ink }) }],
    ['path', { d: mouth, ...line }],
  ])
  svg.setAttribute('class', 'face')
  return svg
}

function picture(size: number, shapes: [string, Record<string, string>][]): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`)
  svg.setAttribute('aria-hidden', 'true')
  for (const [name, attributes] of shapes) {
    const shape = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value)
    svg.append(shape)
  }
  return svg
}
