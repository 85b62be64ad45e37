import { readFile } from 'node:fs/promises'
import path from 'node:path'

const pages = path.join(import.meta.dirname, '../../docs/operations')

/** The blocks of commands below a heading of a page of docs/operations. */
export async function documentedCommands(page: string, heading: string): Promise<string[]> {
  const text = await readFile(path.join(pages, page), 'utf8')
  const [, section = ''] = text.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const blocks = [...own.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands)
  if (blocks.length === 0) throw new Error(`${page} has no commands below ${heading}`)
  return blocks
}
