import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { PDFiumModule } from '@hyzyla/pdfium'

/** PDFium as WebAssembly: its C functions, and the memory in which they answer. */
export type Pdfium = Awaited<ReturnType<typeof load>>

/** Compiled once per process: that takes as long as thirty pages. */
let loading: Promise<Pdfium> | undefined

export const loadPdfium = (): Promise<Pdfium> => (loading ??= load())

type NativeFunction = (...values: number[]) => number

/** A place in PDFium's memory for small answers: numbers and short texts. */
const scratchBytes = 64 * 1024

async function load() {
  const wasm = createRequire(import.meta.url).resolve('@hyzyla/pdfium/pdfium.wasm')
  const wasmBinary = new Uint8Array(await readFile(wasm)).buffer
  const library = await PDFiumModule({ wasmBinary, locateFile: () => '' })
  library._FPDF_InitLibraryWithConfig({})
  const { malloc, free } = library.wasmExports
  const scratch = malloc(scratchBytes)
  const known = new Map<string, NativeFunction>()

  /** A function by its name in PDFium's headers: the wrapper's types name only a few. */
  function native(name: string): NativeFunction {
    const found = known.get(name)
    if (found !== undefined) return found
    const value: unknown = Reflect.get(library.wasmExports, name)
    if (!isNative(value)) throw new Error(`PDFium has no function ${name}.`)
    known.set(name, value)
    return value
  }

  // The memory moves when it grows: then the old one is empty.
  let doubles = new Float64Array(library.HEAPU8.buffer)
  let floats = new Float32Array(library.HEAPU8.buffer)
  function renew(): void {
    doubles = new Float64Array(library.HEAPU8.buffer)
    floats = new Float32Array(library.HEAPU8.buffer)
  }

  return {
    native,
    malloc,
    free,
    /** Where functions may write an answer, eight bytes a place. */
    at: (offset: number) => scratch + 8 * offset,
    double(offset: number): number {
      if (doubles.length === 0) renew()
      return doubles[(scratch >> 3) + offset] ?? 0
    },
    /** Four bytes a place. */
    float(offset: number): number {
      if (floats.length === 0) renew()
      return floats[(scratch >> 2) + offset] ?? 0
    },
    int: (offset: number) => library.HEAP32[(scratch >> 2) + offset] ?? 0,
    bytes: () => library.HEAPU8,
    /**
     * A UTF-16 text by a function of the usual form: it writes at most so many bytes, and returns how many there are,
     * with the zero at the end.
     */
    text(write: (buffer: number, bytes: number) => number): string {
      const needed = write(scratch, scratchBytes)
      const length = Math.min(needed, scratchBytes) - 2
      if (length <= 0 || needed > scratchBytes) return ''
      return new TextDecoder('utf-16le').decode(library.HEAPU8.slice(scratch, scratch + length))
    },
  }
}

const isNative = (value: unknown): value is NativeFunction => typeof value === 'function'

export interface PdfDocument {
  id: number
  pages: number
  /** The environment of form fields. */
  form: number
  close(): void
}

/** PDFium's numbers of errors that a password would mend. */
const protectedErrors = new Set([4, 5])

/** `protected`: it needs a password. `damaged`: it cannot be opened. */
export function openDocument(pdfium: Pdfium, content: Uint8Array): PdfDocument | 'protected' | 'damaged' {
  const { native, malloc, free } = pdfium
  const data = malloc(content.length)
  if (data === 0) throw new RangeError('PDFium has no memory for this file.')
  pdfium.bytes().set(content, data)
  const id = native('FPDF_LoadMemDocument')(data, content.length, 0)
  if (id === 0) {
    const error = native('FPDF_GetLastError')()
    free(data)
    return protectedErrors.has(error) ? 'protected' : 'damaged'
  }
  // `FPDF_FORMFILLINFO`: its version, then callbacks, of which none is needed to read fields.
  const info = malloc(formInfoBytes)
  pdfium.bytes().fill(0, info, info + formInfoBytes)
  pdfium.bytes()[info] = 2
  const form = native('FPDFDOC_InitFormFillEnvironment')(id, info)
  return {
    id,
    pages: native('FPDF_GetPageCount')(id),
    form,
    close() {
      if (form !== 0) native('FPDFDOC_ExitFormFillEnvironment')(form)
      native('FPDF_CloseDocument')(id)
      free(info)
      free(data)
    },
  }
}

const formInfoBytes = 256

/** Opens a page for the time of `use`: an open page takes 60 KB and more. Undefined if it is damaged. */
export function withPage<Result>(
  { native }: Pdfium,
  document: PdfDocument,
  index: number,
  use: (page: number) => Result,
): Result | undefined {
  const page = native('FPDF_LoadPage')(document.id, index)
  if (page === 0) return undefined
  try {
    return use(page)
  } finally {
    native('FPDF_ClosePage')(page)
  }
}

/** What a viewer of documents shows as the name of a page; undefined if it is the page's number. */
export function labelOf(pdfium: Pdfium, document: PdfDocument, index: number): string | undefined {
  const label = pdfium
    .text((buffer, bytes) => pdfium.native('FPDF_GetPageLabel')(document.id, index, buffer, bytes))
    .trim()
  return label === '' || label === String(index + 1) ? undefined : label
}

export interface OutlineEntry {
  title: string
  level: number
}

const maxOutlineEntries = 5000
const maxOutlineDepth = 9

/** The document's own table of contents, by page. */
export function outlineOf(pdfium: Pdfium, document: PdfDocument): Map<number, OutlineEntry[]> {
  const { native } = pdfium
  const found = new Map<number, OutlineEntry[]>()
  let entries = 0
  const seen = new Set<number>()
  function visit(parent: number, level: number): void {
    let entry = native('FPDFBookmark_GetFirstChild')(document.id, parent)
    for (; entry !== 0 && entries < maxOutlineEntries && !seen.has(entry); entries++) {
      seen.add(entry)
      const bookmark = entry
      const title = pdfium.text((buffer, bytes) => native('FPDFBookmark_GetTitle')(bookmark, buffer, bytes))
      const page = pageOfBookmark(pdfium, document, bookmark)
      const known = found.get(page)
      if (title.trim() !== '' && page >= 0) {
        const made = { title: title.replace(/\s+/g, ' ').trim(), level }
        if (known) known.push(made)
        else found.set(page, [made])
      }
      if (level < maxOutlineDepth) visit(bookmark, level + 1)
      entry = native('FPDFBookmark_GetNextSibling')(document.id, bookmark)
    }
  }
  visit(0, 1)
  return found
}

function pageOfBookmark({ native }: Pdfium, document: PdfDocument, bookmark: number): number {
  let place = native('FPDFBookmark_GetDest')(document.id, bookmark)
  if (place === 0) {
    const action = native('FPDFBookmark_GetAction')(bookmark)
    if (action !== 0) place = native('FPDFAction_GetDest')(document.id, action)
  }
  return place === 0 ? -1 : native('FPDFDest_GetDestPageIndex')(document.id, place)
}

interface GreyPicture {
  width: number
  height: number
  grey: Uint8Array
}

/** The page as it is printed. `scale`: pixels for each point. */
export function drawPage(
  { native, malloc, free, bytes }: Pdfium,
  page: number,
  scale: number,
): GreyPicture | undefined {
  const width = Math.floor(native('FPDF_GetPageWidth')(page) * scale)
  const height = Math.floor(native('FPDF_GetPageHeight')(page) * scale)
  const buffer = width > 0 && height > 0 ? malloc(width * height) : 0
  if (buffer === 0) return undefined
  const bitmap = native('FPDFBitmap_CreateEx')(width, height, greyFormat, buffer, width)
  try {
    native('FPDFBitmap_FillRect')(bitmap, 0, 0, width, height, 0xffffffff)
    native('FPDF_RenderPageBitmap')(bitmap, page, 0, 0, width, height, 0, drawFlags)
    return { width, height, grey: bytes().slice(buffer, buffer + width * height) }
  } finally {
    native('FPDFBitmap_Destroy')(bitmap)
    free(buffer)
  }
}

/** `FPDFBitmap_Gray`. */
const greyFormat = 1
/** `FPDF_ANNOT`, `FPDF_LCD_TEXT`, `FPDF_GRAYSCALE`. */
const drawFlags = 0x01 | 0x02 | 0x08
