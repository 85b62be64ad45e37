import { describe, expect, it } from 'vitest'
import { useTarget } from './target.ts'

describe('the service over HTTP', () => {
  const target = useTarget()

  it('reports the state of each dependency', async () => {
    const response = await fetch(`${target.url}/ok`)
    expect(response.status).toBe(200)
    const dependencies = { mongodb: { status: 'ok' }, redis: { status: 'ok' }, temporal: { status: 'ok' } }
    expect(await response.json()).toMatchObject({ dependencies })
  })

  it('serves OpenAPI 3.1.0, version 1.0.0', async () => {
    const document: any = await (await fetch(`${target.url}/openapi.json`)).json()
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
    expect(document.components.schemas).toHaveProperty('HealthReport')
  })

  it.each(['/docs', '/redoc'])('%s contains no external address', async (path) => {
    const response = await fetch(`${target.url}${path}`)
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).toContain('<script')
    expect([...html.matchAll(/(?:src|href)="(?:https?:)?\/\//g)]).toEqual([])
  })

  it('tells unknown paths, methods and content types apart', async () => {
    expect((await fetch(`${target.url}/nowhere`)).status).toBe(404)
    const wrongMethod = await fetch(`${target.url}/ok`, { method: 'DELETE' })
    expect(wrongMethod.status).toBe(405)
    expect(wrongMethod.headers.get('allow')).toContain('GET')
    expect(await wrongMethod.json()).toHaveProperty('detail')
  })
})
