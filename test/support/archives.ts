import { gzipSync } from 'node:zlib'
import type { ApiClient } from './api-client.ts'
import type { RunningService } from './service.ts'
import { tarEnd, tarHeader, tarPadding } from './tar.ts'

const at = new Date('2026-01-01T00:00:00Z')

/** A member of a tar archive. */
export function member(name: string, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([tarHeader(name, bytes.length, at), bytes, tarPadding(bytes.length)])
}

export const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

export const manifest = member('manifest.json', lines({ format: 'assistant-platform-user', version: 1 }))

/** A whole archive with these members after its manifest. */
export const whole = (...members: Buffer[]) => gzipSync(Buffer.concat([manifest, ...members, tarEnd]))

/** The test service listens on a port of its own, which its BASE_URL does not name. */
export const fetchLink = (service: RunningService, url: string, init: RequestInit = {}) =>
  fetch(`${service.url}${new URL(url).pathname}${new URL(url).search}`, init)

/** The archive of an export. */
export async function archiveOf(service: RunningService, client: ApiClient): Promise<Uint8Array<ArrayBuffer>> {
  const { url } = await client.post('/user/export')
  const response = await fetchLink(service, url)
  return new Uint8Array(await response.arrayBuffer())
}

export async function importInto(
  { url }: { url: string },
  { token }: { token?: string | undefined },
  body: RequestInit['body'],
): Promise<{ status: number; body: any; headers: Headers }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  const response = await fetch(`${url}/user/import`, { method: 'POST', headers, body: body ?? null, duplex: 'half' })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

/** The lines of a kind in an archive that was unpacked. */
export function linesIn(tar: Buffer, kind: string): any[] {
  const found: any[] = []
  for (let place = 0; place + 512 <= tar.length;) {
    const name =
      tar
        .subarray(place, place + 100)
        .toString('latin1')
        .split('\0')[0] ?? ''
    const size = Number.parseInt(tar.subarray(place + 124, place + 135).toString('latin1'), 8)
    if (name === '') break
    const content = tar.subarray(place + 512, place + 512 + size).toString('utf8')
    if (name.startsWith(`${kind}-0`))
      found.push(
        ...content
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      )
    place += 512 * (1 + Math.ceil(size / 512))
  }
  return found
}
