import { Module, createRequire } from 'node:module'

interface Jsdom {
  JSDOM: new (...args: unknown[]) => object
}

/**
 * Loaded into the mailbox before its own code, which uses `jsdom` only when it shows a mail with HTML: loading it takes
 * half of the mailbox's start.
 */
const require = createRequire(createRequire(import.meta.url).resolve('maildev'))
const file = require.resolve('jsdom')
const lazy = new Module(file)
let loaded: Jsdom | undefined

function load(): Jsdom {
  delete require.cache[file]
  return require(file) as Jsdom
}

lazy.exports = {
  JSDOM: class {
    constructor(...args: unknown[]) {
      loaded ??= load()
      return new loaded.JSDOM(...args)
    }
  },
} satisfies Jsdom
lazy.loaded = true
require.cache[file] = lazy
