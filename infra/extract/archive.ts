import type { Readable } from 'node:stream'
import { type Entry, type ZipFile, fromBuffer, open } from 'yauzl'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import type { Content } from './content.ts'
import { charsetByLetters, createDecoder } from './language-letters.ts'

/** A zip file, whose entries never unpack to more than they say they do. */
export interface Archive {
  names: string[]
  /** Undefined if there is no such entry. */
  size(name: string): number | undefined
  /** The bytes of an entry as they are unpacked; undefined if there is none. */
  stream(name: string): Promise<AsyncIterable<Buffer> | undefined>
  /** Undefined if there is none, or if it is larger than `maxBytes`. */
  text(name: string, maxBytes: number): Promise<string | undefined>
  close(): void
}

const maxEntries = 20_000
const maxNameBytes = 1024

/** Opens a file; throws `UnreadableFile` if it is damaged, encrypted, or has too many entries. */
export async function openArchive(content: Content): Promise<Archive> {
  const zip = await opened(content)
  const entries = await listOf(zip).catch((error: unknown) => {
    zip.close()
    throw error instanceof UnreadableFile ? error : damaged(error)
  })

  async function stream(name: string): Promise<AsyncIterable<Buffer> | undefined> {
    const entry = entries.get(name)
    if (entry === undefined) return undefined
    if (entry.isEncrypted())
      throw new UnreadableFile('encrypted', 'This document is protected with a password and cannot be read.')
    return readable(await streamOf(zip, entry))
  }

  return {
    names: [...entries.keys()],
    size: (name) => entries.get(name)?.uncompressedSize,
    stream,
    async text(name, maxBytes) {
      const size = entries.get(name)?.uncompressedSize
      const source = size === undefined || size > maxBytes ? undefined : await stream(name)
      if (source === undefined) return undefined
      const parts: Buffer[] = []
      for await (const part of source) parts.push(part)
      return Buffer.concat(parts).toString('utf8')
    },
    close: () => zip.close(),
  }
}

const damaged = (cause: unknown) => new UnreadableFile('damaged', 'This file is damaged and cannot be read.', { cause })

/** Names are decoded here: the library refuses whole archives for one of them. */
async function opened(content: Content): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, decodeStrings: false }
    const done = (error: Error | null, zip: ZipFile) => (error ? reject(damaged(error)) : resolve(zip))
    if (typeof content === 'string') open(content, options, done)
    else fromBuffer(content, options, done)
  })
}

async function listOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => resolve(entries))
    zip.on('entry', (entry: Entry) => {
      if (entries.size >= maxEntries) {
        reject(new UnreadableFile('too_large', 'This file holds more files than can be read.'))
        return
      }
      const name = nameOf(entry)
      if (name !== undefined && !name.endsWith('/')) entries.set(name, entry)
      zip.readEntry()
    })
    zip.readEntry()
  })
}

/** Undefined for names that lead out of the archive. */
function nameOf({ fileNameRaw: raw, versionMadeBy: system }: Entry): string | undefined {
  if (raw.length === 0 || raw.length > maxNameBytes) return undefined
  const name = decoded(raw, system >> 8)
    .replaceAll('\\', '/')
    .replace(/^\/+/, '')
    .normalize('NFC')
  return name.split('/').includes('..') ? undefined : name
}

/** What made the entry: the Explorer of Windows writes names in the code page of its console. */
const [dos, ntfs] = [0, 11]

/** UTF-8, which old programs do not announce; else what the letters tell, or the usual code page of the West. */
function decoded(raw: Buffer, system: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw)
  } catch {
    const usual = system === dos || system === ntfs ? 'cp850' : 'windows-1252'
    return createDecoder(charsetByLetters(raw) ?? usual).decode(raw)
  }
}

async function streamOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) reject(damaged(error))
      else resolve(stream)
    })
  })
}

async function* readable(source: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const part of source) if (Buffer.isBuffer(part)) yield part
  } catch (error) {
    throw damaged(error)
  }
}
