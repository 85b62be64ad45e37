import { lstat, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { unwrap } from '../src/create-client.ts'
import { type Command, jsonOption, textValue } from './command.ts'
import { wrongUse } from './failure.ts'
import { pushFiles } from './files.ts'
import { findAssistant, listAssistants } from './service.ts'
import { note, out, plain, plainLine, standardInput } from './terminal.ts'

export const list: Command = {
  name: 'assistants list',
  summary: 'List the assistants of the project',
  operands: '',
  takes: [0, 0],
  options: jsonOption,
  async run({ values, open }) {
    const all = await listAssistants(await open())
    if (values['json'] === true) out(`${JSON.stringify(all)}\n`)
    else for (const { assistant_id: id, name } of all) out(`${id}\t${plainLine(name)}\n`)
  },
}

export const exportOne: Command = {
  name: 'assistants export',
  summary: 'Print an assistant as YAML, without its secrets',
  operands: 'NAME',
  takes: [1, 1],
  options: { output: { type: 'string', short: 'o', value: 'FILE', help: 'write to this file' } },
  async run({ operands: [name], values, open }) {
    const service = await open()
    const { assistant_id: aid } = await findAssistant(service, name)
    const { file } = await unwrap(service.api.GET('/assistants/{aid}/yaml', { params: { path: { aid } } }))
    const output = textValue(values['output'])
    if (output === undefined) out(plain(file))
    else await writeFile(output, file)
  },
}

export const apply: Command = {
  name: 'assistants apply',
  summary: 'Create the assistant of a YAML file, or change the one of its name',
  operands: '',
  takes: [0, 0],
  options: {
    file: { type: 'string', short: 'f', value: 'FILE', help: 'the file; - reads the standard input' },
    'with-files': { type: 'boolean', help: 'upload missing documents that lie beside the file' },
    ...jsonOption,
  },
  async run({ values, open }) {
    const file = textValue(values['file'])
    if (file === undefined) throw wrongUse('Name the file with -f FILE.')
    const text =
      file === '-'
        ? await standardInput()
        : await readFile(file, 'utf8').catch(() => {
            throw wrongUse(`The file "${file}" cannot be read.`)
          })
    const service = await open()
    const applied = await unwrap(service.api.POST('/assistants/apply', { body: { file: text } }))
    const { assistant, outcome, missing_secrets: secrets, missing_files: missing } = applied
    if (values['json'] === true) out(`${JSON.stringify(applied)}\n`)
    else out(plainLine(`${assistant.name}: ${outcome}`) + '\n')
    for (const place of secrets) note(`Missing secret: ${plainLine(place)}. Set it in the console.`)
    const withFiles = values['with-files'] === true && file !== '-'
    const found = withFiles ? await documentsAmong(missing, path.dirname(file)) : []
    for (const name of missing)
      if (!found.some((known) => path.basename(known) === name)) note(`Missing file: ${plainLine(name)}`)
    if (withFiles && found.length < missing.length)
      note('Only documents that lie beside the file are uploaded with it; for others see "assistant files push".')
    if (found.length > 0) await pushFiles(service, assistant.assistant_id, found, values['json'] === true)
  },
}

/** Formats of documents. JSON, YAML and files without an ending often hold keys. */
const documentName =
  /^[^.].*\.(pdf|docx?|pptx?|xlsx?|csv|tsv|md|markdown|txt|html?|rtf|odt|ods|odp|epub|eml|msg|png|jpe?g|tiff?|webp|gif|bmp)$/i

/**
 * What of these names is a document in the folder. A file from somebody else says what is uploaded: it must not name
 * files of other folders, hidden ones such as `.env`, or links.
 */
async function documentsAmong(names: string[], folder: string): Promise<string[]> {
  const found = await Promise.all(
    names
      .filter((name) => name === path.basename(name) && documentName.test(name))
      .map(async (name) => {
        const file = path.join(folder, name)
        const facts = await lstat(file).catch(() => undefined)
        return facts?.isFile() === true ? [file] : []
      }),
  )
  return found.flat()
}
