import { createInterface } from 'node:readline'
import { lanceBucket } from '../../infra/vectors/lance-bucket.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'

/**
 * A process that writes into a LanceDB in a bucket: for each line on standard input, `{ space, files, rows }`, it
 * stores so many files of so many rows and answers with a line, the number of rows that it was told are stored.
 */
const [url = '', name = ''] = process.argv.slice(2)
const { S3_ACCESS_KEY_ID: s3AccessKeyId, S3_SECRET_ACCESS_KEY: s3SecretAccessKey } = process.env
const store = createLanceStore(url, lanceBucket(url, { s3AccessKeyId, s3SecretAccessKey }, fetch))
await store.ping()
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const { space, files, rows }: { space: string; files: number; rows: number } = JSON.parse(line)
  let stored = 0
  for (let file = 0; file < files; file++) {
    const records = Array.from({ length: rows }, (_, row) => ({
      id: `${name}-${file}-${row}`,
      fileId: `${name}-${file}`,
      position: row,
      text: `row ${row} of a lighthouse`,
      vector: Array.from({ length: 8 }, (_value, index) => Math.sin(row * 8 + index)),
    }))
    await store.upsert(space, records, { areNew: true })
    stored += rows
  }
  console.log(stored)
}
await store.close()
