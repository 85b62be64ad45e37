import type { Connection } from 'mongoose'

/** A command as the driver sends it: its name, and the collection under that name. */
interface Command {
  name: string
  command: Record<string, any>
}

/** The commands that databases get while this works, in order. */
export async function commandsDuring(databases: Connection[], work: () => Promise<unknown>): Promise<Command[]> {
  const seen: Command[] = []
  const note = ({ commandName: name, command }: { commandName: string; command: Record<string, any> }) =>
    void seen.push({ name, command })
  for (const database of databases) database.getClient().on('commandStarted', note)
  try {
    await work()
  } finally {
    for (const database of databases) database.getClient().off('commandStarted', note)
  }
  return seen
}
