import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/** No argument of ours has a space in it. */
const openssl = (line: string) => promisify(execFile)('openssl', line.split(' '))
const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'

export interface Certificate {
  cert: string
  key: string
}

/** A certificate authority of its own, which makes certificates for 127.0.0.1 and localhost. Good for a day. */
export async function createAuthority(name: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'authority-'))
  const file = (kind: string) => path.join(folder, kind)
  try {
    const [ca, caKey] = [file('ca.pem'), file('ca.key')]
    await openssl(`req -x509 ${newKey} -days 1 -subj /CN=${name} -keyout ${caKey} -out ${ca}`)
    await writeFile(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
    const issue = async (subject: string): Promise<Certificate> => {
      await openssl(`req ${newKey} -subj /CN=${subject} -keyout ${file('key')} -out ${file('request')}`)
      await openssl(
        `x509 -req -in ${file('request')} -CA ${ca} -CAkey ${caKey} -CAcreateserial -days 1 -extfile ${file('names')} -out ${file('cert')}`,
      )
      return { cert: await readFile(file('cert'), 'utf8'), key: await readFile(file('key'), 'utf8') }
    }
    return { ca: await readFile(file('ca.pem'), 'utf8'), server: await issue('server'), client: await issue('client') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
