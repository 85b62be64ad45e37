import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { type Extractor, createExtractor } from '../../infra/extract/extractor.ts'
import { fileOnDisk } from '../support/file-on-disk.ts'
import { slowFiles } from '../support/slow-files.ts'

/**
 * Files that are made to keep a reader busy: their size is doubled several times, and the time that
 * reading takes must not grow faster: ten seconds of processor time are allowed for the largest, of
 * which an honest file takes one.
 */
describe('a file that is built to be slow to read', () => {
  let folder: string
  let extractor: Extractor
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slow-files-'))
    extractor = createExtractor({ memoryMb: 1024, cpuSeconds: 30, timeoutSeconds: 600, idleReaders: 2 })
  })
  afterAll(async () => {
    await extractor.close()
    await rm(folder, { recursive: true, force: true })
  })

  it.each(slowFiles)('$what is read within the time limit for its size', async ({ name, make }) => {
    for (const size of [1024, 16 * 1024, 256 * 1024]) {
      const path = join(folder, name)
      await writeFile(path, make(size))
      const reasons: string[] = []
      const running = extractor.extract(await fileOnDisk(path, name))
      try {
        while (!(await running.next()).done);
      } catch (error) {
        if (!(error instanceof UnreadableFile)) throw error
        reasons.push(error.reason)
      }
      expect(reasons, `at ${size} bytes`).not.toContain('too_slow')
    }
  })
})
