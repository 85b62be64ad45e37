import type { ColouredLine } from './colour.ts'
import type { Written } from './read.ts'

/** What a page asks the worker for: to read Markdown, or to colour code of a language. */
export interface ReadRequest {
  id: number
  text: string
  language?: string | undefined
}

/** `ready` is sent once, when the worker can be asked. A text without `written` or `coloured` is shown as it is. */
export type ReadAnswer =
  | 'ready'
  | { id: number; written?: Written[] | undefined; coloured?: ColouredLine[] | undefined }
