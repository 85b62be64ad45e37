import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import start from 'tesseract.js-core/tesseract-core-simd-lstm.js'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { languageFile } from './languages.ts'

const require = createRequire(import.meta.url)
const inflate = promisify(gunzip)

export interface Recognized {
  text: string
  /** Mean of its words, from 0 to 100. */
  confidence: number
}

export interface Recognizer {
  /**
   * The text of a picture (PNG, JPEG, TIFF, WebP, GIF, BMP, PNM). Undefined if there is none, or none that can be
   * read. `dpi`: dots per inch, if known. Throws `PageTooSlow`, and must not be used again then.
   */
  recognize(picture: Uint8Array, dpi?: number): Recognized | undefined
}

/** A picture that takes more processor time than a page may: gravel looks like a million words. */
export class PageTooSlow extends Error {}

/** Processor time of one page. Four times what a dense one takes, which may lie on its side. */
const pageCpuSeconds = 30
/** Gravel and leaves: not worth a second look. */
const hopeless = 20
/** Pictures without words give about 35, also text that lies on its side; clean scans about 90. */
const legible = 50
/** As EXIF numbers them: upright, upside down, and the two sides. */
const orientations = [1, 3, 6, 8]

/**
 * Tesseract's neural networks as WebAssembly, in this thread: a reader may not start threads, as the workers of
 * tesseract.js would.
 */
export async function startRecognizer(languages: readonly string[]): Promise<Recognizer> {
  const silent = () => undefined
  let startedAt = process.cpuUsage()
  // Called within WebAssembly, again and again while a picture is read: this error ends it.
  const endIfSlow = () => {
    const { user, system } = process.cpuUsage(startedAt)
    if (user + system > pageCpuSeconds * 1_000_000) throw new PageTooSlow()
  }
  const wasm = require.resolve('tesseract.js-core/tesseract-core-simd-lstm.wasm')
  const core = await start({
    wasmBinary: await readFile(wasm),
    TesseractProgress: endIfSlow,
    // Standard output belongs to the answers of the reader.
    print: silent,
    printErr: silent,
  })
  for (const code of languages)
    core.FS.writeFile(`${code}.traineddata`, await inflate(await readFile(languageFile(code))))
  const api = new core.TessBaseAPI()
  if (api.Init(null, languages.join('+'), 1) !== 0) throw new Error('Tesseract does not start with its languages.')

  function read(orientation: number): Recognized {
    if (api.SetImageFile(orientation, 0) !== 0)
      throw new UnreadableFile('damaged', 'This picture is damaged and cannot be read.')
    if (api.Recognize(null) !== 0) return { text: '', confidence: 0 }
    return { text: api.GetUTF8Text().trim(), confidence: api.MeanTextConf() }
  }

  /** Pages of one scan lie alike. */
  let usual = 1
  return {
    recognize(picture, dpi) {
      startedAt = process.cpuUsage()
      core.FS.writeFile('/input', picture)
      api.SetVariable('user_defined_dpi', String(Math.round(dpi ?? 0)))
      try {
        let best = read(usual)
        if (best.confidence < hopeless || !/[\p{L}\p{N}]{2}/u.test(best.text)) return undefined
        for (const orientation of orientations.filter((one) => one !== usual)) {
          if (best.confidence >= legible) break
          const turned = read(orientation)
          if (turned.confidence <= best.confidence) continue
          best = turned
          if (turned.confidence >= legible) usual = orientation
        }
        return best.confidence >= legible ? best : undefined
      } finally {
        api.Clear()
        core.FS.unlink('/input')
      }
    },
  }
}
