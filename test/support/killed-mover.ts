import mongoose from 'mongoose'
import type { BlobPlace } from '../../infra/mongo/blob-bytes.ts'
import { moveBlobs } from '../../infra/mongo/move-blobs.ts'
import { createObjectStore } from '../../infra/objects/index.ts'
import { createObjectPlace } from '../../infra/objects/object-place.ts'
import { loadSettings } from '../../infra/config.ts'

/**
 * `npm run move-blobs` with a lease of half a second, which kills itself with SIGKILL at the boundary with that number:
 * before or after something is removed from, completed in or read from the object store. 0: never.
 */
const [to, killAt] = process.argv.slice(2)
let boundaries = 0
function boundary(): void {
  boundaries += 1
  if (boundaries === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

function killing(place: BlobPlace): BlobPlace {
  return {
    ...place,
    write(blob) {
      const writer = place.write(blob)
      return {
        ...writer,
        async complete() {
          boundary()
          await writer.complete()
          boundary()
        },
      }
    },
    async *read(...wanted) {
      yield* place.read(...wanted)
      boundary()
    },
    async remove(blobs) {
      boundary()
      await place.remove(blobs)
      boundary()
    },
  }
}

const settings = loadSettings(process.env)
const store = createObjectStore(settings, fetch)
if (store === undefined || (to !== 's3' && to !== 'database')) throw new Error('wrong settings or arguments')
const connection = await mongoose.createConnection(settings.mongodbUri).asPromise()
const done = await moveBlobs(connection, {
  objects: killing(createObjectPlace(store)),
  to,
  leaseMs: 500,
  log: (line) => console.error(line),
})
await connection.close()
console.log(JSON.stringify(done))
