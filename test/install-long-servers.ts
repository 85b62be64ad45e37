import { readComposeFile, versionOfImage } from '../faults/production-drill/compose-file.ts'
import { prepareTemporalServer } from '../faults/production-drill/programs.ts'
import { prepareCaddy } from '../local/services/caddy.ts'
import { prepareObjectStore } from '../local/services/object-store.ts'

/**
 * Builds the servers that only long tests start, one after the other, so that `.ci/run` can do it with low priority
 * beside `npm test`. A test builds for itself what is missing.
 */
const compose = await readComposeFile()
await prepareTemporalServer(versionOfImage(compose, 'temporal'), console.log)
await prepareCaddy(versionOfImage(compose, 'proxy'), console.log)
await prepareObjectStore(console.log)
