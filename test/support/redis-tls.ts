import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Certificate } from './certificates.ts'

export interface ServerTls {
  ca: string
  server: Certificate
}

/** Lines of a Redis server's configuration with which it takes and makes connections with TLS, from `port` on. */
export async function redisTls(dataDir: string, { ca, server }: ServerTls, port: number): Promise<string[]> {
  // Servers that start side by side would read a file that is just being written.
  const folder = path.join(dataDir, `tls-${port}`)
  await mkdir(folder, { recursive: true })
  const file = async (name: string, text: string) => {
    await writeFile(path.join(folder, name), text)
    return path.join(folder, name)
  }
  return [
    `tls-port ${port}`,
    'tls-auth-clients no',
    'tls-replication yes',
    `tls-ca-cert-file ${await file('ca.pem', ca)}`,
    `tls-cert-file ${await file('server.pem', server.cert)}`,
    `tls-key-file ${await file('server.key', server.key)}`,
  ]
}

/** The same as arguments of the program. */
export const argumentsOf = (lines: string[] | undefined) =>
  (lines ?? []).flatMap((line) => {
    const [name = '', ...value] = line.split(' ')
    return [`--${name}`, value.join(' ')]
  })
