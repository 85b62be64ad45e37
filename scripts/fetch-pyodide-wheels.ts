import { mkdir } from 'node:fs/promises'
import { fetchPyodideWheels } from '../infra/python/pyodide-wheels.ts'

/** `node scripts/fetch-pyodide-wheels.ts FOLDER`: the packages of `CODE_PYODIDE_PACKAGES`, for the build of the image. */
const folder = process.argv[2]
if (folder === undefined) throw new Error('name the folder of the wheels')
await mkdir(folder, { recursive: true })
const names = (process.env['CODE_PYODIDE_PACKAGES'] ?? '').split(',').map((name) => name.trim())
const url = process.env['CODE_PYODIDE_URL'] || undefined
const wheels = await fetchPyodideWheels({ names: names.filter(Boolean), url }, folder)
for (const { file_name: name } of wheels) console.log(name)
