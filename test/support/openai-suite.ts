import path from 'node:path'
import { pythonPrograms, pythonSource } from './python-packages.ts'

/** The release whose tests run, and what they need. */
const version = '3.57.0'
const needed = [`openai==${version}`, 'pytest==9.2.0', 'pytest-asyncio==1.5.0', 'rich==15.0.0', 'aiohttp==3.14.5']

/** The source package of the official Python client, which carries its tests, and the Python that runs them. */
export async function openaiSuite(): Promise<{ python: string; folder: string }> {
  const python = path.join(await pythonPrograms('openai-suite-python', needed), 'python')
  return { python, folder: await pythonSource('openai', version) }
}

/** How one test of the suite ended: undefined when it passed. */
export type Outcome = string | undefined

/** Outcomes by file, class and name, from a report in JUnit's format. */
export function outcomesOf(report: string): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>()
  for (const [, attributes = '', body = ''] of report.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const file = /classname="tests\.api_resources\.([^"]*)"/.exec(attributes)?.[1] ?? ''
    const name = /\bname="test_(?:method_)?([^"[]*)/.exec(attributes)?.[1] ?? ''
    const failure = /<(?:failure|error) message="([^"]*)"/.exec(body)?.[1]
    outcomes.set(`${file.replace(/\.Test\w+$/, '')} ${name}`, failure === undefined ? undefined : reasonOf(failure))
  }
  return outcomes
}

/** Of an answered request its status and message; otherwise the first words. */
function reasonOf(message: string): string {
  const [, status, text = ''] = /Error code: (\d+)(?: - ([^&<]*))?/.exec(message) ?? []
  return status === undefined ? message.slice(0, 200) : `${status} ${text}`.trim()
}
