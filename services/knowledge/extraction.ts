import type { Readable } from 'node:stream'
import type { ChunkerOptions } from '../../domain/chunking/chunker-options.ts'
import type { Chunk } from '../../domain/chunking/chunker.ts'
import type { Scan } from '../../domain/knowledge/scan.ts'

/** Reads files where they can do no harm; implemented by `infra/extract`. */
export interface Extraction {
  /**
   * The chunks of a file, in order, as they are read; only chunks that the caller has not taken yet are in memory.
   * The same file always gives the same chunks. Throws `UnreadableFile`, the error of the content stream, and the
   * signal's reason when aborted: then the reader is killed at once.
   */
  extract(file: FileToRead, signal?: AbortSignal): AsyncGenerator<Chunk, FileRead>
}

/** What there is for reading the pages of a file that are pictures. */
export interface Scans {
  /** Of processor time; pages beyond it are not read. */
  seconds: number
  /** The user has no more today. */
  isDayLimit: boolean
  /** Called before the first such page. False: there is no place for it now; `extract` throws `ScansBusy`. */
  begin(): boolean
  /** Called with the processor time of each page. */
  used(seconds: number): void
}

export interface PageReader {
  /** What is of use in a page of the web, a sitemap or a feed. Throws as `extract` does. */
  readPage(page: PageToRead, signal?: AbortSignal): Promise<PageRead>
}

interface PageToRead {
  /** Base of its links, if it does not name another one. */
  url: string
  body: Buffer
  /** As the server calls it. */
  charset?: string | undefined
  owner: string
  /** At most so many are of interest. */
  maxLinks: number
}

export interface PageRead extends PageFacts {
  /** The readable part of a page, as HTML in UTF-8; empty for a sitemap or a feed. */
  html: string
  /** Absolute addresses, in order, as they stand there. */
  links: string[]
}

/** What a reader says of a page beside its links and its text. */
export interface PageFacts {
  /** `lists`: a sitemap that names sitemaps. */
  kind: 'page' | 'sitemap' | 'lists' | 'feed'
  title?: string | undefined
  canonical?: string | undefined
  noindex: boolean
  nofollow: boolean
  /** There are more links than `maxLinks`. */
  hasMoreLinks: boolean
}

/** What is known of a file when all of it was read. */
export interface FileRead {
  contentType: string
  /** Only if pages of it were pictures. */
  scan?: Scan | undefined
}

export interface FileToRead {
  name: string
  /** Bytes. */
  size: number
  /** Opens the content; called once. */
  content: () => Readable
  /** How it is cut into chunks; undefined: as the reader does by itself. */
  chunking?: ChunkerOptions | undefined
  /** Undefined: pages that are pictures are read as long as it takes. */
  scans?: Scans | undefined
  /** The owner of the file. One process reads only files of one owner, one after the other. */
  owner: string
}
