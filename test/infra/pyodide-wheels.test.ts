import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fetchPyodideWheels, installedPyodide, wheelsOf } from '../../infra/python/pyodide-wheels.ts'

const bytes = { 'num-1-py3-none-any.whl': 'numbers', 'frames-2-py3-none-any.whl': 'frames' }

function entry(file: keyof typeof bytes, depends: string[] = [], more: object = {}) {
  const sha256 = createHash('sha256').update(bytes[file]).digest('hex')
  return { file_name: file, sha256, install_dir: 'site', depends, ...more }
}

const lock = {
  packages: {
    num: entry('num-1-py3-none-any.whl'),
    'data-frames': entry('frames-2-py3-none-any.whl', ['num']),
    broken: entry('num-1-py3-none-any.whl', ['nowhere']),
    library: entry('num-1-py3-none-any.whl', [], { install_dir: 'dynlib' }),
    missing: entry('num-1-py3-none-any.whl', [], { file_name: 'missing-1-py3-none-any.whl' }),
  },
}

/** Serves the files of a distribution; `changed` is another file than the release had. */
async function mirror(changed?: string): Promise<string> {
  const server = createServer((request, response) => {
    const name = path.basename(request.url ?? '')
    const found = Object.entries(bytes).find(([each]) => each === name)?.[1]
    response.writeHead(found === undefined ? 404 : 200).end(name === changed ? 'another' : found)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/full`
}

async function fetched(names: string[], url: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'wheels-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await fetchPyodideWheels({ names, url }, folder, Promise.resolve({ lock, address: 'http://unused.test/' }))
  const files = (await readdir(folder)).toSorted()
  return Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))
}

it('packages of Pyodide come with what they need, from the folder that is named', async () => {
  expect(await fetched(['Data_Frames'], await mirror())).toEqual(['frames', 'numbers'])
  expect(await fetched([], await mirror())).toEqual([])
})

it('a package that is not what the release had is not used', async () => {
  const url = await mirror('num-1-py3-none-any.whl')
  await expect(fetched(['data-frames'], url)).rejects.toThrow(/num-1-py3-none-any.whl has the checksum .* instead of/)
  await expect(fetched(['missing'], url)).rejects.toThrow('/full/missing-1-py3-none-any.whl answered 404')
})

it('names that cannot be had are named', () => {
  expect(() => wheelsOf(lock, ['nothing'])).toThrow("the package nothing is not in Pyodide's distribution")
  expect(() => wheelsOf(lock, ['broken'])).toThrow('the package nowhere, which broken needs, is not in')
  expect(() => wheelsOf(lock, ['library'])).toThrow('the package library cannot be used: it is no wheel')
})

it('the installed release has the packages that the documentation names', async () => {
  const { lock: installed, address } = await installedPyodide()
  const files = wheelsOf(installed, ['numpy', 'pandas', 'matplotlib']).map(({ file_name: name }) => name)
  for (const name of ['numpy', 'pandas', 'matplotlib', 'pillow'])
    expect(files).toContainEqual(expect.stringMatching(`^${name}-`))
  expect(address).toMatch(/^https:.*\/v[\d.]+\/full\/$/)
})
