import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import mongoose from 'mongoose'
import { newId } from '../../domain/ids.ts'
import { messageTerms, wordsOf } from '../../domain/search/message-terms.ts'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'

const compress = promisify(zstdCompress)

/** What WiredTiger compresses at once, and the level that MongoDB uses. */
const blockBytes = 32 * 1024
const zstdLevel = 6
const entries = 5000
const charactersOfMessage = 1200

/**
 * What `blockCompressor: zstd` saves of the log of threads. The records are laid into blocks as WiredTiger does it, and
 * compressed here, because the database of `npm start` is built without zstd.
 */
export async function benchCompression(context: BenchContext): Promise<void> {
  const corpus = await readFile(new URL('../corpus/devils-dictionary.txt', import.meta.url), 'utf8')
  const thread = { project_id: newId(), public: false }
  const records = Array.from({ length: entries }, (_, index) => {
    const from = (index * charactersOfMessage) % (corpus.length - charactersOfMessage)
    const content = corpus.slice(from, from + charactersOfMessage)
    const message = { type: 'HumanMessage' as const, data: { id: newId(), content } }
    const entry = { _id: newId(), seq: index + 1, source: 'update' as const, created_at: new Date() }
    const messages_json = JSON.stringify([message])
    const search = messageTerms(thread, entry, wordsOf([message]))
    return mongoose.mongo.BSON.serialize({ ...entry, thread_id: thread.project_id, messages_json, search })
  })
  const all = Buffer.concat(records)
  let compressed = 0
  for (let start = 0; start < all.length; start += blockBytes) {
    const params = { [constants.ZSTD_c_compressionLevel]: zstdLevel }
    compressed += (await compress(all.subarray(start, start + blockBytes), { params })).length
  }
  const kilobytes = (bytes: number) => Math.round(bytes / 1000).toLocaleString('en')
  const share = `${Math.round((100 * compressed) / all.length)} %`
  context.log('\n### The log of threads in the database (kilobytes)\n')
  context.log(
    table(
      ['', 'as it is', 'zstd', 'left'],
      [[`${entries} messages`, kilobytes(all.length), kilobytes(compressed), share]],
    ),
  )
}
