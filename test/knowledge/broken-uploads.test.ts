import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

describe('an upload whose connection breaks before its body is read', () => {
  const service = useSharedService()

  it('ends, so that the same request with the same key is executed', async () => {
    const { assistantId, token, fetch, list } = await knowledgeClient(await insertUser(service))
    const { uploads } = service.api.services
    const { admit } = uploads
    const arrived = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    uploads.admit = async (assistant) => {
      arrived.resolve()
      await gate.promise
      return admit(assistant)
    }
    const connections = () =>
      new Promise<number>((resolve) => service.api.app.server.getConnections((_error, count) => resolve(count)))
    const body =
      '--edge\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\nSome text.\r\n--edge--\r\n'
    const path = `/assistants/${assistantId}/files?wait=false`
    const headers = { 'idempotency-key': newId(), 'content-type': 'multipart/form-data; boundary=edge' }
    const openBefore = await connections()
    const { hostname, port } = new URL(service.url)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(
      [
        `POST ${path} HTTP/1.1`,
        `host: ${hostname}`,
        `authorization: Bearer ${token}`,
        `content-length: ${body.length}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        '',
        body.slice(0, 100),
      ].join('\r\n'),
    )
    await arrived.promise
    socket.destroy()
    await eventually('the connection to be gone', async () => (await connections()) <= openBefore)
    uploads.admit = admit
    gate.resolve()

    const answer = await eventually('an answer to the repeated request', async () => {
      const response = await fetch('POST', path, body, headers)
      const text = await response.text()
      return response.status !== 409 && { status: response.status, body: JSON.parse(text) }
    })
    expect(answer).toMatchObject({ status: 200, body: { files: [{ name: 'a.txt' }] } })
    expect((await list()).body.files).toHaveLength(1)
  })
})
