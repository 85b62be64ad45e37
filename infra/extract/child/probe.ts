import { readFileSync } from 'node:fs'

/** Tells the parent that a process can be started in this way and can read its folder. */
process.stdout.write(readFileSync('file'))
