import { stringify } from 'yaml'
import { AssistantFileError, type ReadFile, readAssistantFile, writeAssistantFile } from './assistant-file.ts'
import { YamlError, parseForeignYaml } from './foreign-yaml.ts'

/** The same text for the same assistant: members in a fixed order, free-form ones as they are stored. */
export function toAssistantYaml(assistant: Omit<ReadFile, 'missing'>): string {
  return stringify(writeAssistantFile(assistant), {
    schema: 'core',
    lineWidth: 0,
    aliasDuplicateObjects: false,
    blockQuote: 'literal',
  })
}

/** Throws `AssistantFileError`. */
export function fromAssistantYaml(text: string): ReadFile {
  try {
    return readAssistantFile(parseForeignYaml(text))
  } catch (error) {
    if (error instanceof YamlError) throw new AssistantFileError([], error.message)
    throw error
  }
}
