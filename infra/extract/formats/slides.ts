import type { Block } from '../../../domain/chunking/block.ts'
import type { Archive } from '../archive.ts'
import type { Content } from '../content.ts'
import { readObjects } from '../office-objects.ts'
import { type Relation, mainPart, maxPartBytes, openPackage, relationsOf } from '../office-package.ts'
import { blocksOfShape, shapesOf } from '../slides/slide.ts'
import { attribute, createXmlReader, readOpened } from '../word/xml.ts'

/** A PowerPoint presentation: its slides in order, with tables, charts, alternative texts and notes. */
export async function* readSlides(content: Content, readsHidden: boolean): AsyncGenerator<Block> {
  const archive = await openPackage(content)
  try {
    const main = await mainPart(archive, 'ppt/presentation.xml')
    const relations = await relationsOf(archive, main)
    const order = slideIds((await archive.text(main, maxPartBytes)) ?? '')
    const authors = await authorsOf(archive, relations)
    const slides = order.flatMap((id) => relations.find((relation) => relation.id === id)?.target ?? [])
    for (const [index, slide] of slides.entries())
      yield* readSlide(archive, slide, { page: index + 1, authors, readsHidden })
  } finally {
    archive.close()
  }
}

function slideIds(xml: string): string[] {
  const ids: string[] = []
  readOpened(xml, (name, attributes) => {
    // The other attribute of this name has no prefix.
    const id = attributes['r:id'] ?? attribute(withoutOwnId(attributes), 'id')
    if (name === 'p:sldId' && id !== undefined) ids.push(id)
  })
  return ids
}

const withoutOwnId = ({ id: _own, ...others }: Record<string, string>): Record<string, string> => others

async function* readSlide(
  archive: Archive,
  slide: string,
  { page, authors, readsHidden }: { page: number; authors: Map<string, string>; readsHidden: boolean },
): AsyncGenerator<Block> {
  const xml = (await archive.text(slide, maxPartBytes)) ?? ''
  const relations = await relationsOf(archive, slide)
  const objects = await readObjects(archive, slide)
  const isHidden = /<p:sld\b[^>]*\sshow="(?:0|false)"/.test(xml.slice(0, 4000))
  if (isHidden && !readsHidden) return
  if (isHidden) yield { kind: 'text', text: '(hidden slide)', page }
  for (const shape of shapesOf(xml)) {
    yield* blocksOfShape(shape, page)
    for (const block of objects.get(shape.object ?? '') ?? []) yield { ...block, page }
  }
  for (const { target } of relations.filter(({ kind }) => kind === 'comments'))
    for (const text of commentsOf((await archive.text(target, maxPartBytes)) ?? '', authors))
      yield { kind: 'text', text, page }
  const notes = relations.find(({ kind }) => kind === 'notesSlide')?.target
  const noted = notes === undefined ? undefined : await archive.text(notes, maxPartBytes)
  for (const shape of shapesOf(noted ?? '')) if (!shape.isTitle) yield* blocksOfShape(shape, page)
}

/** Who wrote comments, by the ids that these name. */
async function authorsOf(archive: Archive, relations: Relation[]): Promise<Map<string, string>> {
  const authors = new Map<string, string>()
  const part = relations.find(({ kind }) => kind === 'commentAuthors' || kind === 'authors')?.target
  readOpened((part === undefined ? undefined : await archive.text(part, maxPartBytes)) ?? '', (_name, { id, name }) => {
    if (id !== undefined && name !== undefined && authors.size < maxAuthors) authors.set(id, name.slice(0, 100))
  })
  return authors
}

const maxAuthors = 5000

/** The comments on a slide and their replies, as old and new programs write them. */
function commentsOf(xml: string, authors: Map<string, string>): string[] {
  const comments: string[] = []
  /** Replies stand in the comment that they answer, before its text. */
  const open: { author: string; text: string; at: number }[] = []
  let isText = false
  const reader = createXmlReader({
    open(name, { authorId }) {
      isText = name === 'p:text' || name === 'a:t'
      if (isComment.test(name)) open.push({ author: authors.get(authorId ?? '') ?? '', text: '', at: comments.length })
    },
    close(name) {
      isText = false
      const here = open.at(-1)
      if (here && name === 'a:p') here.text += ' '
      if (!here || !isComment.test(name)) return
      open.pop()
      const text = here.text.replace(/\s+/g, ' ').trim()
      const by = here.author === '' ? '' : ` by ${here.author}`
      if (text !== '') comments.splice(here.at, 0, `(comment${by}: ${text})`)
    },
    text(piece) {
      const here = open.at(-1)
      if (isText && here && here.text.length < maxComment) here.text += piece
    },
  })
  reader.write(xml)
  reader.end()
  return comments
}

const isComment = /:(?:cm|reply)$/
const maxComment = 20_000
