import type { Block } from '../../../domain/chunking/block.ts'
import type { Archive } from '../archive.ts'
import { createXmlReader } from '../word/xml.ts'
import { createDocumentBody } from './body.ts'
import { createListNumbers } from './list-numbers.ts'

const maxObjects = 500
const maxObjectBytes = 4 * 1024 * 1024

/** Formulas and charts of a document, by the folders in which it keeps them. */
export async function readObjects(archive: Archive): Promise<Map<string, Block[]>> {
  const objects = new Map<string, Block[]>()
  for (const name of archive.names) {
    const [, folder] = /^([^/]+)\/content\.xml$/.exec(name) ?? []
    if (folder === undefined || objects.size >= maxObjects) continue
    const xml = (await archive.text(name, maxObjectBytes)) ?? ''
    objects.set(folder, /<(\w+:)?math\b/.test(xml.slice(0, 2000)) ? formulaOf(xml) : chartOf(xml))
  }
  return objects
}

/** As its author typed it, where the program keeps that; else its letters in one line. */
function formulaOf(xml: string): Block[] {
  let typed = ''
  let drawn = ''
  let isTyped = false
  const reader = createXmlReader({
    open(name) {
      const tag = name.slice(name.indexOf(':') + 1)
      if (tag === 'annotation') isTyped = true
      else if (tag === 'mfrac') drawn += ' '
      else if (tag === 'msqrt') drawn += '√'
    },
    close(name) {
      if (name.endsWith('annotation')) isTyped = false
    },
    text(text) {
      if (isTyped) typed += text
      else drawn += text.trim()
    },
  })
  reader.write(xml)
  reader.end()
  const text = (typed.trim() === '' ? drawn : typed)
    .replace(/\s+/g, ' ')
    .replace(/^\s*\{(.*)\}\s*$/, '$1')
    .trim()
  return text === '' ? [] : [{ kind: 'text', text }]
}

/** The title of a chart, and its values as rows. */
function chartOf(xml: string): Block[] {
  const body = createDocumentBody({
    numbers: createListNumbers(),
    objects: new Map(),
    headingStyles: new Map(),
    hiddenStyles: new Set(),
    readsHidden: true,
    raisedStyles: new Map(),
  })
  const reader = createXmlReader(body)
  reader.write(xml)
  reader.end()
  return body.take()
}
