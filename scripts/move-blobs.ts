import { parseArgs } from 'node:util'
import { connectForMaintenance } from '../infra/mongo/connect-for-maintenance.ts'
import { moveBlobs, renameStore } from '../infra/mongo/move-blobs.ts'
import { createObjectStore } from '../infra/objects/index.ts'
import { createObjectPlace } from '../infra/objects/object-place.ts'
import { runProgram } from '../infra/program.ts'

/** Moves the bytes of files between MongoDB and an object store: docs/object-storage.md. */
const { values } = parseArgs({ options: { to: { type: 'string' }, 'renamed-from': { type: 'string' } } })
const { to, 'renamed-from': formerName } = values
if ((to !== 's3' && to !== 'database' && to !== undefined) || (to === undefined) === (formerName === undefined)) {
  console.error(`usage: node scripts/move-blobs.ts --to s3|database
       node scripts/move-blobs.ts --renamed-from s3://BUCKET/PREFIX/   after the bucket itself was copied`)
  process.exit(2)
}

await runProgram(async (settings) => {
  const store = createObjectStore(settings, fetch)
  if (store === undefined) throw new Error('BLOBS_URL is not set')
  await store.ping()
  const { connection, close } = await connectForMaintenance(settings)
  try {
    const objects = createObjectPlace(store)
    if (to === undefined) return console.log(JSON.stringify(await renameStore(connection, formerName ?? '', objects)))
    const log = (line: string) => console.error(line)
    const done = await moveBlobs(connection, { objects, to, log })
    console.log(JSON.stringify(done))
    if (done.failed > 0 || done.left > 0) process.exitCode = 1
  } finally {
    await close()
  }
})
