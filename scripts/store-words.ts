import { connectDatabase } from '../infra/mongo/connect.ts'
import { runProgram } from '../infra/program.ts'
import { storeMissingWords } from '../services/threads/missing-words.ts'

/**
 * After a rolling upgrade from a version without a search in messages: stores the words of what processes of that
 * version have stored since the migration. It can run while the service is in use, and can be repeated.
 */
await runProgram(async (settings) => {
  const { collections, close } = await connectDatabase(settings.mongodbUri, { tls: settings.mongodbTls })
  try {
    const stored = await storeMissingWords(collections, new AbortController().signal)
    console.log(`the words of ${stored} entries were stored`)
  } finally {
    await close()
  }
})
