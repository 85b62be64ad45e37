import type { Block } from '../../../domain/chunking/block.ts'
import type { Content } from '../content.ts'
import { readLines } from '../read-text.ts'

/** Beginnings of definitions, as most languages write them; indented ones belong to what is around them. */
const definition =
  /^(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([\w: ]+\))?|unsafe|extern|inline|open|sealed|data|override|partial|declare|local)\s+)*(?:function\*?|class|interface|type|enum|struct|trait|impl|def|fn|func|fun|module|namespace|object|record|protocol|extension|sub|proc|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|FUNCTION|PROCEDURE|INDEX|TRIGGER))\b/i
/** `export const handler = …`, `int main(…) {`. */
const value = /^(?:export\s+)?(?:const|let|var|val)\s+\w+.*(?:=>|\bfunction\b|\bclass\b)/
const cFunction = /^[A-Za-z_][\w:<>,*&\s]*\s[*&]?[\w:~]+\s*\([^;]*\)\s*(?:const\s*)?\{\s*$/
/** What stands before a definition and belongs to it. */
const lead = /^\s*(?:@|#\[|\/\/|\/\*|\*|#(?!include|define|if|endif|pragma)|--|;;|""")/

const indented = new Set(['py', 'rb', 'yaml', 'yml'])
const maxCharacters = 32 * 1024

/** Longer lines are data. */
const longestDefinition = 300

const beginsDefinition = (line: string, extension: string): boolean =>
  definition.test(line) || value.test(line) || (!indented.has(extension) && cFunction.test(line))

/** Source code, a block for each definition with the comment above it, so that a chunk seldom ends within one. */
export async function* readCode(content: Content, extension: string): AsyncGenerator<Block> {
  const isData = /^(?:ya?ml|toml|ini|cfg|conf|properties|css|scss|less|diff|patch|tex)$/.test(extension)
  let lines: string[] = []
  let characters = 0
  /** Where the comment above the next definition begins. */
  let leadAt: number | undefined

  function take(count: number): Block[] {
    const text = lines.slice(0, count).join('\n')
    lines = lines.slice(count)
    characters = lines.reduce((sum, line) => sum + line.length + 1, 0)
    leadAt = leadAt === undefined ? undefined : 0
    return text.trim() === '' ? [] : [{ kind: 'code', text: `${text}\n\n` }]
  }

  for await (const line of readLines(content)) {
    const isDefinition = !isData && line.length < longestDefinition && beginsDefinition(line, extension)
    if (isDefinition && lines.length > 0) {
      yield* take(leadAt ?? lines.length)
      leadAt = undefined
    } else if (lead.test(line) && !/^\s/.test(line)) leadAt ??= lines.length
    else leadAt = undefined
    if (characters > maxCharacters) yield* take(lines.length)
    lines.push(line)
    characters += line.length + 1
  }
  yield* take(lines.length)
}
