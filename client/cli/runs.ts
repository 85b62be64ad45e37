import { finish, showRun } from './answer.ts'
import { type Command, jsonOption } from './command.ts'

export const watchRun: Command = {
  name: 'runs watch',
  summary: 'Follow a run to its end, also over lost connections',
  operands: 'RUN_ID',
  takes: [1, 1],
  options: jsonOption,
  async run({ operands: [runId = ''], values, open }) {
    const asJson = values['json'] === true
    finish(await showRun(await open(), runId, { quiet: asJson }), asJson)
  },
}
