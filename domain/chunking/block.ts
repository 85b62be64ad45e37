/**
 * The output of extraction and input of chunking: a document as a flat sequence of pieces in reading order. `page`
 * counts from 1: a page of a PDF, or a slide of a presentation. `label`: what the document itself calls that page.
 * `row` counts from 1 as the program does that made the table; `sheet` is its name in a workbook, `caption` what stands
 * above its header.
 */
export type Block = BlockLocation &
  ({ kind: 'heading'; level: number; text: string } | { kind: BodyKind; text: string })

type BodyKind = 'text' | 'row' | 'code'

interface BlockLocation {
  page?: number
  label?: string
  sheet?: string
  row?: number
  caption?: string
}

/** Longer labels are cut: they are repeated for each page of a passage. */
export const maxLabelCharacters = 40
/** Longer captions are cut: they are embedded with each chunk of the table. */
export const maxCaptionCharacters = 200
/** As long as a name of a sheet can be. */
export const maxSheetCharacters = 100
