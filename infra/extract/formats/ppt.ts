import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, bytesOf } from '../content.ts'
import { slidesOf } from '../ppt/presentation.ts'
import { shapesIn } from '../ppt/shapes.ts'
import { blocksOfShape, inOrder } from '../slides/slide.ts'

/** A presentation of PowerPoint 97 to 2003: its slides in order, with tables, alternative texts and notes. */
export async function* readPpt(content: Content, readsHidden: boolean): AsyncGenerator<Block> {
  const bytes = await bytesOf(content)
  try {
    yield* blocksOf(bytes, readsHidden)
  } catch (error) {
    // A number in the file that points beyond its end.
    if (!(error instanceof RangeError)) throw error
    throw new UnreadableFile('damaged', 'This presentation is damaged and cannot be read.', { cause: error })
  }
}

function* blocksOf(bytes: Buffer, readsHidden: boolean): Generator<Block> {
  let page = 0
  for (const { record, outline, fonts, notes, isHidden } of slidesOf(bytes)) {
    page++
    if (isHidden && !readsHidden) continue
    if (isHidden) yield { kind: 'text', text: '(hidden slide)', page }
    for (const shape of inOrder(shapesIn(record, { outline, fonts }))) yield* blocksOfShape(shape, page)
    if (notes === undefined) continue
    for (const shape of inOrder(shapesIn(notes, { outline: [], fonts })))
      if (!shape.isTitle) yield* blocksOfShape(shape, page)
  }
}
