/** What we use of it; the package has no types. */
declare module 'tesseract.js-core/tesseract-core-simd-lstm.js' {
  interface BaseApi {
    /** 0 if it succeeds. `mode` 1: neural networks only. */
    Init(path: null, languages: string, mode: number): number
    SetVariable(name: string, value: string): boolean
    /** Reads the file `/input`, turned as this EXIF orientation says. 0 if it succeeds. */
    SetImageFile(orientation: number, angle: number): number
    /** 0 if it succeeds. */
    Recognize(monitor: null): number
    GetUTF8Text(): string
    /** From 0 to 100. */
    MeanTextConf(): number
    Clear(): void
  }
  interface Core {
    FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void }
    TessBaseAPI: new () => BaseApi
  }
  export default function start(options: {
    wasmBinary: Uint8Array
    TesseractProgress: () => void
    print: () => void
    printErr: () => void
  }): Promise<Core>
}
