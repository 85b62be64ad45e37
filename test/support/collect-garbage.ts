import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Has V8 collect all its garbage, without Node's option `--expose-gc`, so that the memory that is counted is in use. */
export const collectGarbage: () => void = runInNewContext('gc')
