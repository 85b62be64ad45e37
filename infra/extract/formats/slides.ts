import type { Block } from '../../../domain/chunking/block.ts'
import type { Archive } from '../archive.ts'
import type { Content } from '../content.ts'
import { mainPart, maxPartBytes, openPackage, relationsOf } from '../office-package.ts'
import { readObjects } from '../office-objects.ts'
import { blocksOfShape, shapesOf } from '../slides/slide.ts'
import { attribute, createXmlReader } from '../word/xml.ts'

/** A PowerPoint presentation: its slides in order, with tables, charts, alternative texts and notes. */
export async function* readSlides(content: Content): AsyncGenerator<Block> {
  const archive = await openPackage(content)
  try {
    const main = await mainPart(archive, 'ppt/presentation.xml')
    const relations = await relationsOf(archive, main)
    const order = slideIds((await archive.text(main, maxPartBytes)) ?? '')
    const slides = order.flatMap((id) => relations.find((relation) => relation.id === id)?.target ?? [])
    for (const [index, slide] of slides.entries()) yield* readSlide(archive, slide, index + 1)
  } finally {
    archive.close()
  }
}

function slideIds(xml: string): string[] {
  const ids: string[] = []
  const reader = createXmlReader({
    open(name, attributes) {
      // The other attribute of this name has no prefix.
      const id = attributes['r:id'] ?? attribute(withoutOwnId(attributes), 'id')
      if (name === 'p:sldId' && id !== undefined) ids.push(id)
    },
    close: () => undefined,
    text: () => undefined,
  })
  reader.write(xml)
  reader.end()
  return ids
}

const withoutOwnId = ({ id: _own, ...others }: Record<string, string>): Record<string, string> => others

async function* readSlide(archive: Archive, slide: string, page: number): AsyncGenerator<Block> {
  const xml = (await archive.text(slide, maxPartBytes)) ?? ''
  const relations = await relationsOf(archive, slide)
  const objects = await readObjects(archive, slide)
  const isHidden = /<p:sld\b[^>]*\sshow="(?:0|false)"/.test(xml.slice(0, 4000))
  if (isHidden) yield { kind: 'text', text: '(hidden slide)', page }
  for (const shape of shapesOf(xml)) {
    yield* blocksOfShape(shape, page)
    for (const block of objects.get(shape.object ?? '') ?? []) yield { ...block, page }
  }
  const notes = relations.find(({ kind }) => kind === 'notesSlide')?.target
  const noted = notes === undefined ? undefined : await archive.text(notes, maxPartBytes)
  for (const shape of shapesOf(noted ?? '')) if (!shape.isTitle) yield* blocksOfShape(shape, page)
}
