import { composeArchiveMaintenance } from '../composition/archived-threads.ts'
import { connectDatabase } from '../infra/mongo/connect.ts'
import { runProgram } from '../infra/program.ts'

/**
 * Brings all archived threads back into the database: before a return to a version that cannot read them, when no process
 * has `ARCHIVE_AFTER_DAYS` any more. It can run while the service is in use, and can be repeated.
 */
await runProgram(async (settings) => {
  const database = await connectDatabase(settings.mongodbUri, { tls: settings.mongodbTls })
  const archives = composeArchiveMaintenance(settings, database)
  try {
    console.log(`${await archives.openAll()} threads were brought back`)
  } finally {
    await archives.close()
    await database.close()
  }
})
