import path from 'node:path'
import { root, scriptOf } from '../scripts/process-bundle.ts'

/** `npm start`: from the bundle, whose few files are loaded sooner, if there is one. */
await import(path.resolve(root, scriptOf('start')))
