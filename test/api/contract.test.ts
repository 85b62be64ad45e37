import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestService, startService } from '../support/service.ts'

describe('the OpenAPI document', () => {
  let service: TestService
  let operations: Map<string, any>
  let document: any
  beforeAll(async () => {
    service = await startService({ worker: false })
    document = await (await fetch(`${service.url}/openapi.json`)).json()
    operations = new Map(
      Object.entries<any>(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
      ),
    )
  })
  afterAll(() => service.close())

  it('has every operation of the contract', async () => {
    const contract = (await readFile(new URL('operations.txt', import.meta.url), 'utf8')).trim().split('\n')
    expect(contract.length).toBeGreaterThan(70)
    expect(contract.filter((line) => !operations.has(line))).toEqual([])
  })

  it('gives every operation a unique id, a summary, a tag and answers', () => {
    const ids = [...operations.values()].map((operation) => operation.operationId)
    expect(ids.every(Boolean)).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [name, operation] of operations) {
      expect.soft(operation.summary, name).toBeTruthy()
      expect.soft(operation.tags, name).toBeTruthy()
      expect.soft(Object.keys(operation.responses), name).not.toEqual([])
    }
  })

  it('refers only to existing components', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    )
    expect(refs.length).toBeGreaterThan(50)
    expect(refs.filter((name) => !(String(name) in document.components.schemas))).toEqual([])
  })
})
