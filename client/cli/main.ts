#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { ApiError } from '../src/create-client.ts'
import { apply, exportOne, list } from './assistants.ts'
import { type Command, textValue } from './command.ts'
import { completionOf } from './completion.ts'
import { Failure, exitCodes, wrongUse } from './failure.ts'
import { pushFilesCommand } from './files.ts'
import { commonOptions, helpOf, overview } from './help.ts'
import { login, logout } from './login.ts'
import { addMember, listInvitations, listMembers, removeMember, revokeInvitation, setRole } from './people.ts'
import { watchRun } from './runs.ts'
import { openService } from './service.ts'
import { ask, chat } from './talk.ts'
import { note, out, plainLine } from './terminal.ts'

const ofPeople = [listMembers, addMember, removeMember, setRole, listInvitations, revokeInvitation]
const own = [login, logout, ask, chat, pushFilesCommand, list, apply, exportOne, watchRun, ...ofPeople]
const commands: Command[] = [...own, completionOf(own)]

// A reader such as `head` may end early.
process.stdout.on('error', () => process.exit(0))
process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  try {
    await runCommand(args)
    return 0
  } catch (error) {
    const { message, code } = failureOf(error)
    note(`assistant: ${message}`)
    return code
  }
}

async function runCommand(args: string[]): Promise<void> {
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => word === args[index]))
  if (command === undefined) {
    const [first] = args
    if (first === undefined || ['help', '--help', '-h'].includes(first)) return out(overview(commands))
    const group = commands.filter(({ name }) => name.startsWith(`${first} `))
    if (group.length > 0 && (args[1] === undefined || args[1] === '--help')) return out(overview(group))
    throw wrongUse(`There is no command "${plainLine(args.slice(0, 2).join(' '))}": "assistant --help" lists them.`)
  }
  const { values, positionals } = parse(command, args.slice(command.name.split(' ').length))
  if (values['help'] === true) return out(helpOf(command))
  const [least, most] = command.takes
  if (positionals.length < least || positionals.length > most)
    throw wrongUse(`Usage: assistant ${command.name} ${command.operands}`.trim())
  const url = textValue(values['url'])
  await command.run({ operands: positionals, values, url, open: () => openService(url) })
}

function parse({ options }: Command, args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { ...options, ...commonOptions } })
  } catch (error) {
    throw wrongUse(error instanceof Error ? plainLine(error.message) : 'The options are not valid.')
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof ApiError) {
    const code = error.status === 401 ? exitCodes.login : exitCodes.failed
    return new Failure(plainLine(error.message), code)
  }
  // What `fetch` throws when there is no connection.
  if (error instanceof TypeError && error.message === 'fetch failed')
    return new Failure('The service cannot be reached.', exitCodes.unreachable)
  return new Failure(error instanceof Error ? plainLine(error.message) : 'Something went wrong.')
}
