// Runs the program that is named once for each interface, one after the other: its packages are loaded once.
import { pathToFileURL } from 'node:url'

const program = pathToFileURL(process.argv[2]).href
for (const api of ['chat', 'responses']) {
  process.env.API = api
  await import(`${program}?${api}`)
}
