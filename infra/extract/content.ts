import { createReadStream, openAsBlob } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'

/** What a reader reads: a file by its path, or the bytes of one that was in another. */
export type Content = string | Buffer

export function streamOf(content: Content, highWaterMark = 256 * 1024): AsyncIterable<Buffer> {
  if (typeof content === 'string') return createReadStream(content, { highWaterMark })
  return slicesOf(content, highWaterMark)
}

// oxlint-disable-next-line typescript/require-await -- as a stream is read
async function* slicesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export const bytesOf = async (content: Content): Promise<Buffer> =>
  typeof content === 'string' ? readFile(content) : content

export const sizeOf = async (content: Content): Promise<number> =>
  typeof content === 'string' ? (await stat(content)).size : content.length

export const blobOf = async (content: Content): Promise<Blob> =>
  typeof content === 'string' ? openAsBlob(content) : new Blob([new Uint8Array(content)])

export async function headOf(content: Content, length: number): Promise<Buffer> {
  if (typeof content !== 'string') return content.subarray(0, length)
  const handle = await open(content)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
